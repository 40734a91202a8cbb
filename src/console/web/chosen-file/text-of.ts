// Reads the text of a file that the reader chose.
import { ApiError } from '../session/auth-call.ts'
import { words } from '../words/words.ts'

/** Refuses what the gateway would refuse: the browser puts a replacement character where a file is no UTF-8. @throws ApiError for that field */
export async function textOf(file: File, field: string): Promise<string> {
  const text = await file.text()
  if (text.includes('\uFFFD')) throw new ApiError(0, 'VALIDATION_ERROR', '', [{ path: field, message: words.fields.notUtf8 }])
  return text
}
