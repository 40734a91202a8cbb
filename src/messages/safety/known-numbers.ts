// Knowledge about numbers from the messages of an instance, for networks that cannot be asked.
import type { App } from '../../core/app.ts'
import { readSignsOfLife } from './known-numbers.sql.ts'

/** Implements `Hooks.knownNumbers` (core/app.ts): the latest message that tells something decides. */
export async function knownNumbers(
  app: App,
  instance: { id: string; workspaceId: string },
  numbers: readonly string[],
): Promise<Map<string, boolean>> {
  const signs = await readSignsOfLife(app.pool, instance, numbers)
  return new Map(signs.map(({ peer, reached, missed }) => [peer, reached !== null && (missed === null || reached >= missed)]))
}
