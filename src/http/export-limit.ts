// Limits the exports that run for one workspace at a time, because each keeps reading from the database.
import type { ServerResponse } from 'node:http'
import { failFor } from '../core/errors.ts'
import { createTally } from '../core/tally.ts'

/** Maximum exports of a workspace at the same time, in this process. */
const mostExports = 4

/** Running exports by workspace. */
const running = createTally()

/**
 * Counts an export until its connection closes or its answer is complete.
 * @throws API_RATE_LIMIT_EXCEEDED when the workspace has {@link mostExports}.
 */
export function takeExport(workspaceId: string, response: ServerResponse): void {
  // Its `close` has been emitted.
  if (response.closed) return
  if (running.of(workspaceId) >= mostExports)
    failFor(5, 'API_RATE_LIMIT_EXCEEDED', `At most ${mostExports} exports of a workspace at the same time`)
  running.add(workspaceId, 1)
  response.once('close', () => running.add(workspaceId, -1))
}
