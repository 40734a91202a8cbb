// What fills a template in, and what goes before what.
import type { TemplateContact, Values } from './render.ts'

/** A contact with its own values of `custom.*`. */
export type KnownContact = TemplateContact & { custom: unknown }

/** Its columns. */
export const contactColumns = 'name, "firstName", "lastName", phone, email, custom'

/** `custom.*` is of the first of `given` that has it, else the contact's own. */
export function valuesOf(contact: KnownContact | null, ...given: (Record<string, string> | null | undefined)[]): Values {
  return { contact, custom: [...given, contact?.custom as Record<string, unknown> | undefined] }
}
