// Limits the exports that run for one workspace at a time, because each keeps reading from the database.
import type { ServerResponse } from 'node:http'
import { failFor } from '../core/errors.ts'

/** Maximum exports of a workspace at the same time, in this process. */
const mostExports = 4

/** Running exports by workspace. */
const running = new Map<string, number>()

/**
 * Counts an export until its connection closes or its answer is complete.
 * @throws API_RATE_LIMIT_EXCEEDED when the workspace has {@link mostExports}.
 */
export function takeExport(workspaceId: string, response: ServerResponse): void {
  // Its `close` has been emitted.
  if (response.closed) return
  const before = running.get(workspaceId) ?? 0
  if (before >= mostExports)
    failFor(5, 'API_RATE_LIMIT_EXCEEDED', `At most ${mostExports} exports of a workspace at the same time`)
  running.set(workspaceId, before + 1)
  response.once('close', () => {
    const left = (running.get(workspaceId) ?? 0) - 1
    if (left > 0) running.set(workspaceId, left)
    else running.delete(workspaceId)
  })
}
