// Refuses the form of a message that is scheduled without a time.
import { ApiError } from '../session/auth-call.ts'
import { words } from '../words/words.ts'

/** Refuses an empty time as the gateway would, but in words for a field that nobody has filled. @throws ApiError */
export function refuseNoTime(scheduledAt: unknown): void {
  if (scheduledAt !== '') return
  throw new ApiError(0, 'VALIDATION_ERROR', '', [{ path: 'scheduledAt', message: words.fields.timeMissing }])
}
