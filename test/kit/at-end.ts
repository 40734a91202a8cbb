// What a test opened is closed when the test ends; what was opened outside of a test, when its file ends.
import { onTestFinished } from 'vitest'

type End = () => PromiseLike<void>

const ends: End[] = []

/** Runs `end` when the running test ends, or with the file where none runs (`beforeAll`, top level) or `scope` says so. */
export function atEnd(scope: 'test' | 'file', end: End): void {
  if (scope === 'test') {
    try {
      onTestFinished(end)
      return
    } catch {
      // Vitest says by throwing that no test runs.
    }
  }
  ends.push(end)
}

/** Last opened, first closed. */
export async function closeAll(): Promise<void> {
  for (let end = ends.pop(); end; end = ends.pop()) await end()
}
