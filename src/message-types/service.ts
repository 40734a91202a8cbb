// Access to the table of message types for other domains.
import type { z } from 'zod'
import type { OutgoingContent, OutgoingType } from '../providers/outgoing.ts'
import { messageTypes } from './message-types.ts'
import type { ExampleIds, MessageTypeRow, SharedContact } from './row.ts'

type Table = typeof messageTypes

/** The types that callers can send. Inbound messages may also be `unknown`. */
export type SendType = keyof Table
export const sendTypes = Object.keys(messageTypes) as SendType[]

/** The row of a type; undefined for anything else that a caller gives as a type. */
export function rowOf(type: SendType): MessageTypeRow<OutgoingType>
export function rowOf(type: unknown): MessageTypeRow<OutgoingType> | undefined
export function rowOf(type: unknown): MessageTypeRow<OutgoingType> | undefined {
  return typeof type === 'string' && Object.hasOwn(messageTypes, type) ? messageTypes[type as SendType] : undefined
}

/** The types that a template can have. */
export type TemplateType = { [Type in SendType]: Table[Type] extends { inTemplates: true } ? Type : never }[SendType]
export const templateTypes = sendTypes.filter((type): type is TemplateType => rowOf(type).inTemplates === true)

/** True if a message of the type cannot be without a file. */
export function needsFile(type: SendType): boolean {
  return rowOf(type).required.includes('mediaUrl')
}

type IntersectionOf<Union> = (Union extends unknown ? (item: Union) => void : never) extends (item: infer All) => void
  ? All
  : never
type FieldSchemas = IntersectionOf<Table[SendType]['fields']>

/** The fields of all types, each once. */
export const typeFields = mergeFields() as FieldSchemas
export type TypeFields = z.output<z.ZodObject<FieldSchemas>>

function mergeFields(): Record<string, z.ZodType> {
  const fields: Record<string, z.ZodType> = {}
  for (const [name, field] of sendTypes.flatMap((type) => Object.entries(rowOf(type).fields))) {
    fields[name] ??= field
    // An input has one schema for each name, so types that share a name take it from `shared`.
    if (fields[name] !== field) throw new Error(`two message types define the field ${name}`)
  }
  return fields
}

/** Makes the stored columns of a message. `input` has passed validation; `contact` is the contact that it names. */
export function composeContent(
  type: SendType,
  input: TypeFields,
  contact: SharedContact | undefined,
): { body: string; mediaUrl: string | null; content: OutgoingContent | null } {
  const row = rowOf(type)
  // Validation ensures the required fields, and the caller ensures that the contact exists.
  const given = { ...input, contact } as never
  return {
    body: row.body(given),
    mediaUrl: 'mediaUrl' in row.fields ? (input.mediaUrl ?? null) : null,
    content: row.content(given),
  }
}

/** An example of each type: its own fields in a request. */
export function messageExamples(ids: ExampleIds): Record<SendType, { summary?: string; fields: Record<string, unknown> }> {
  const examples = sendTypes.map((type) => {
    const { summary, fields } = rowOf(type).example
    return [type, { ...(summary !== undefined && { summary }), fields: fields(ids) }]
  })
  return Object.fromEntries(examples)
}
