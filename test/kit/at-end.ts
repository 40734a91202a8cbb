// Closes what a test opened when the test ends; what was opened outside of a test is closed when its file ends.
import { onTestFinished } from 'vitest'

type End = () => PromiseLike<void>

const ends: End[] = []

/**
 * Runs `end` when the running test ends; at the end of the file if no test runs (`beforeAll`, top level) or `scope` says so.
 */
export function atEnd(scope: 'test' | 'file', end: End): void {
  if (scope === 'test') {
    try {
      onTestFinished(end)
      return
    } catch {
      // Vitest throws when no test is running.
    }
  }
  ends.push(end)
}

/** Closes in reverse order of opening. */
export async function closeAll(): Promise<void> {
  for (let end = ends.pop(); end; end = ends.pop()) await end()
}
