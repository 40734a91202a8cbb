// Asks a question until it is answered. A gateway that is away is asked again.
import { ApiError } from '../session/auth-call.ts'
import { passes } from './passing.ts'
import { againMs } from './use-read.ts'

/** Calls `failed` with each failure, and asks again after one that passes. Returns a function that stops it. */
export function askPatiently<Answer>(
  question: () => Promise<Answer>,
  answered: (answer: Answer) => void,
  failed: (error: unknown) => void,
): () => void {
  let stopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  async function run(): Promise<void> {
    let answer: Answer
    try {
      answer = await question()
    } catch (error) {
      if (stopped) return
      failed(error)
      if (error instanceof ApiError && passes(error)) timer = setTimeout(() => void run(), againMs)
      return
    }
    if (!stopped) answered(answer)
  }
  void run()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
