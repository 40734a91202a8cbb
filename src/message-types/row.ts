// The form of a row in the table of message types: the fields that callers give, and the columns made from them.
import type { z } from 'zod'
import type { Rules } from '../core/graph/input.ts'
import type { ContentOf, OutgoingType } from '../providers/outgoing.ts'

/** The contact that a message of type `contact` shares. */
export interface SharedContact {
  id: string
  name: string
  phone: string
}

type Shape = Readonly<Record<string, z.ZodType>>

/** The fields of a type after validation: those that it requires are there, and with `contactId` the contact itself. */
type Given<Fields extends Shape, Required extends keyof Fields> = {
  [Name in keyof Fields]: Name extends Required ? NonNullable<z.output<Fields[Name]>> : z.output<Fields[Name]>
} & ('contactId' extends Required ? { contact: SharedContact } : unknown)

/** The parts of a message type: its fields, and the stored columns made of them. */
export interface Composition<Fields extends Shape, Required extends keyof Fields, Content> {
  /** Its fields. All types share one input, so each field may be left out there, and `required` says which ones a type insists on. */
  fields: Fields
  /** An empty text counts as missing. */
  required: readonly Required[]
  /** Rules that the schema of a field cannot state. They see values that may be wrong in other ways. */
  check?: Rules
  /** Most characters of `text`, where the type has one. */
  longestText?: number
  /** The text of the record. */
  body: (given: Given<Fields, Required>) => string
  /** The data for the provider besides the text and the file. */
  content: (given: Given<Fields, Required>) => Content
}

/** Ids that an example may contain, of records that the reader has. */
export interface ExampleIds {
  contactId: string
}

/** One row: a composition with what else the gateway must know of the type. */
export interface MessageTypeRow<Type extends OutgoingType> {
  fields: Shape
  required: readonly string[]
  check?: Rules
  longestText?: number
  /** The kind of files that it shows, as media/kinds.ts names it. A type without it takes every file. */
  kind?: string
  body: (given: never) => string
  content: (given: never) => ContentOf<Type>
  /** True if a template can become it. Such a type requires nothing but `text` or `mediaUrl`, because a template holds nothing else. */
  inTemplates?: boolean
  /** The type's own fields in a request. The API's documents show the examples that have a summary; tests send all. */
  example: { summary?: string; fields: (ids: ExampleIds) => Record<string, unknown> }
}

/** Infers the types of what `body` and `content` are given from `fields` and `required`. */
export function madeOf<Fields extends Shape, Required extends keyof Fields & string, Content>(
  composition: Composition<Fields, Required, Content>,
): Composition<Fields, Required, Content> {
  return composition
}
