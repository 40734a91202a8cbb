// Input of an import of contacts.
import { z } from 'zod'
import { builder } from '../../core/graph/builder.ts'
import { defineArguments, defineInput, idempotencyKey, type Rules, registerEnum } from '../../core/graph/input.ts'
import { text, uuid } from '../../core/validation.ts'
import { target } from './rows.ts'

const conflicts = ['skip', 'update'] as const

registerEnum(
  'ImportConflict',
  builder.enumType('ImportConflict', {
    description: 'The effect of an import on a contact that has the number of a line already.',
    values: {
      skip: { description: 'Leaves the contact as it is.' },
      update: { description: 'Changes the fields whose cells are not empty.' },
    },
  }),
)

/** The options, which the graph and the form have alike. */
const options = {
  mapping: z
    .record(text(1, 200), target)
    .refine((mapping) => Object.keys(mapping).length <= 100, { error: 'must have at most 100 titles' })
    .nullish()
    .describe('The fields by the titles of their columns, for titles that are not the names of fields: { "Mobile": "phone" }.'),
  groupId: uuid.nullish().describe('A group that takes in every contact of the file, also those that are skipped.'),
  onConflict: z.enum(conflicts).meta({ id: 'ImportConflict' }).nullish().describe('`skip` (the default) or `update`.'),
}

export const ImportOptions = defineArguments('ImportOptions', z.object(options).describe('The options of an import.'))
export type ImportOptions = z.output<typeof ImportOptions>

const rules: Rules = ({ csv, mediaId }, report) => {
  if ((csv == null) === (mediaId == null))
    report(
      [csv == null ? 'csv' : 'mediaId'],
      csv == null ? 'is required, unless mediaId is given' : 'cannot be given together with csv',
    )
}

export const ImportContactsInput = defineInput(
  'ImportContactsInput',
  'An import of contacts from a CSV file: its text, or a file that was uploaded by `POST media`.',
  z.object({
    csv: z.string().min(1).nullish().describe('The text of the file, as far as the body may hold it; a larger file is uploaded.'),
    mediaId: uuid.nullish().describe('An uploaded file of plain text. It is read at once, and may be deleted afterwards.'),
    ...options,
    idempotencyKey,
  }),
  rules,
)
