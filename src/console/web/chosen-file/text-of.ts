// Reads the text of a file that the reader chose.
import { ApiError } from '../session/auth-call.ts'
import { text as said } from './words.ts'

/** Refuses what the gateway would refuse: the browser puts a replacement character where a file is no UTF-8. @throws ApiError for that field */
export async function textOf(file: File, field: string): Promise<string> {
  const refused = (message: string) => new ApiError(0, 'VALIDATION_ERROR', '', [{ path: field, message }])
  // A browser refuses a file that has changed since it was chosen.
  const text = await file.text().catch(() => {
    throw refused(said.unreadable)
  })
  if (text.includes('\uFFFD')) throw refused(said.notUtf8)
  return text
}
