// GraphQL inputs of contacts and groups: every field with its limits. An error names the field.
import { z } from 'zod'
import { defineInput, idempotencyKey, type Rules } from '../core/graph/input.ts'
import { phone } from '../core/phone.ts'
import { nameOf, text, textsByName, uuid } from '../core/validation.ts'

const email = z.email('must be an e-mail address').max(254, 'must have at most 254 characters')
const tag = z.string().trim().pipe(text(1, 50)).meta({ minLength: 1, maxLength: 50 })

export const mostTags = 50
/** A contact has at most this number of values for templates. */
export const mostKeys = 50
/** Maximum length of the name of such a value, in characters. */
export const longestKey = 100

/** Values for templates: a flat object of at most 50 names, with at most 1024 characters each. */
const custom = textsByName(1024).check(({ value, issues }) => {
  const names = Object.keys(value)
  if (names.length > mostKeys) issues.push({ code: 'custom', message: `must have at most ${mostKeys} keys`, input: value })
  if (names.some((name) => name.length < 1 || name.length > longestKey)) {
    issues.push({ code: 'custom', message: `must have keys of 1 to ${longestKey} characters`, input: value })
  }
})

/** Every field that a caller may set. */
export const contactFields = {
  name: nameOf(200).describe('The full name, 1 to 200 characters.'),
  firstName: nameOf(200)
    .nullish()
    .describe('The first name. Null, or left out for a new contact: the first word of the name, also after the name changes.'),
  lastName: nameOf(200)
    .nullish()
    .describe(
      'The last name. Null, or left out for a new contact: the rest of the name, if there is any, also after the name changes.',
    ),
  phone: phone.describe('The number, E.164, unique in the workspace.'),
  email: email.nullish().describe('The e-mail address.'),
  tags: z
    .array(tag)
    .max(mostTags)
    .nullish()
    .describe('Labels: at most 50, of at most 50 characters each; duplicates are ignored.'),
  custom: custom.nullish().describe('Values for templates: an object of at most 50 texts of at most 1024 characters each.'),
}

const groupFields = {
  name: nameOf(200).describe('Its name, 1 to 200 characters, unique in the workspace.'),
  description: text(0, 1000).nullish().describe('Its purpose, up to 1000 characters.'),
}

/** The same field as an optional one. zod drops the description, so it is set again. */
function optional<Field extends z.ZodType>(field: Field) {
  return field.optional().describe(field.description ?? '')
}

/** Requires at least one field. Null counts as a value. */
function changesSomething(fields: object): Rules {
  const names = Object.keys(fields)
  const message = `must change ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  return (value, report) => {
    if (names.every((name) => value[name] === undefined)) report([], message)
  }
}

export const CreateContactInput = defineInput(
  'CreateContactInput',
  'A new contact.',
  z.object({ ...contactFields, idempotencyKey }),
)

export const UpdateContactInput = defineInput(
  'UpdateContactInput',
  'Changes to a contact. Omitted fields stay unchanged; null clears a field.',
  z.object({ ...contactFields, name: optional(contactFields.name), phone: optional(contactFields.phone) }),
  changesSomething(contactFields),
)

export const CreateContactGroupInput = defineInput(
  'CreateContactGroupInput',
  'A new group.',
  z.object({ ...groupFields, idempotencyKey }),
)

export const UpdateContactGroupInput = defineInput(
  'UpdateContactGroupInput',
  'Changes to a group. Omitted fields stay unchanged; null clears a field.',
  z.object({ ...groupFields, name: optional(groupFields.name) }),
  changesSomething(groupFields),
)

/** Search term of lists of contacts and members. */
export const search = text(1, 100)

export const ContactFilter = defineInput(
  'ContactFilter',
  'Filters for contacts.',
  z.object({
    search: search
      .nullish()
      .describe('Only contacts whose name, number or e-mail address contains this text, ignoring case; 1 to 100 characters.'),
    tag: tag.nullish().describe('Only contacts with this label.'),
    groupId: uuid.nullish().describe('Only members of this group.'),
  }),
)

export type CreateContact = ReturnType<typeof CreateContactInput.parse>
export type UpdateContact = ReturnType<typeof UpdateContactInput.parse>
export type CreateContactGroup = ReturnType<typeof CreateContactGroupInput.parse>
export type UpdateContactGroup = ReturnType<typeof UpdateContactGroupInput.parse>
export type ContactFilterValue = ReturnType<typeof ContactFilter.parse>
