// A submission of a form that no answer has confirmed. The same input again has the same key, so that it happens once, also after one left the page.
import { newIdempotencyKey } from '../graph/change.ts'

export interface Submission {
  /** The input, as JSON. */
  said: string
  key: string
}

/** The submission of an input; the one before, if it said the same. */
export function submissionOf(input: object, before: Submission | undefined): Submission {
  const said = JSON.stringify(input)
  return before?.said === said ? before : { said, key: newIdempotencyKey() }
}
