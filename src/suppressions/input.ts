// Inputs of the do-not-contact list and of its settings.
import { z } from 'zod'
import { defineInput, idempotencyKey, type Rules } from '../core/graph/input.ts'
import { phone } from '../core/phone.ts'
import { nameOf, text, uuid } from '../core/validation.ts'
import { withoutSpaceAround } from '../core/white-space.ts'

export const CreateSuppressionInput = defineInput(
  'CreateSuppressionInput',
  'A number that is to get no messages from the workspace.',
  z.object({ phone: phone.describe('The number, E.164.'), idempotencyKey }),
)

const fileRules: Rules = ({ text: given, mediaId }, report) => {
  if (given == null && mediaId == null) report(['text'], 'is required, unless mediaId is given')
  if (given != null && mediaId != null) report(['text'], 'cannot be given together with mediaId')
}

export const ImportSuppressionsInput = defineInput(
  'ImportSuppressionsInput',
  'A file with one number a line: its text, or a file that was uploaded by `POST media`.',
  z.object({
    text: z.string().nullish().describe('The text of the file, as far as the body may hold it; a larger file is uploaded.'),
    mediaId: uuid.nullish().describe('An uploaded file of plain text. It is read at once, and may be deleted afterwards.'),
    idempotencyKey,
  }),
  fileRules,
)

/** The keywords of a workspace that has set none. */
export const defaultKeywords: readonly string[] = ['STOP', 'UNSUBSCRIBE']

/** Takes a number out of the list, so it cannot be a keyword that adds one. */
export const startWord = 'start'

const keyword = nameOf(50).refine((value) => wordOf(value) !== startWord, 'must not be START, which takes a number out')

/**
 * The form in which a keyword and a text are compared: without case and without the white space around it. A phone may write an accent as a
 * character of its own, which nobody sees.
 */
export function wordOf(value: string): string {
  return withoutSpaceAround(value).normalize('NFC').toLowerCase()
}

export const UpdateSuppressionSettingsInput = defineInput(
  'UpdateSuppressionSettingsInput',
  'Changes to the settings. Omitted fields stay unchanged.',
  z.object({
    keywords: z
      .array(keyword)
      .max(50)
      .optional()
      .describe('The texts, in any case, that add their sender: at most 50, of at most 50 characters each.'),
    reply: text(1, 4096)
      .nullish()
      .describe('The text that a sender gets who was added by a keyword, 1 to 4096 characters; null for none.'),
  }),
  ({ keywords, reply }, report) => {
    if (keywords === undefined && reply === undefined) report([], 'must change keywords or reply')
  },
)

export type UpdateSettings = ReturnType<typeof UpdateSuppressionSettingsInput.parse>
