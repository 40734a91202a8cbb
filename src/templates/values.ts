// The values that fill in a template, and their precedence.
import type { TemplateContact, Values } from './render.ts'

/** A contact with its own values of `custom.*`. */
export type KnownContact = TemplateContact & { custom: unknown }

/** Each `custom.*` value comes from the first of `given` that has it, else from the contact. */
export function valuesOf(contact: KnownContact | null, ...given: (Record<string, string> | null | undefined)[]): Values {
  return { contact, custom: [...given, contact?.custom as Record<string, unknown> | undefined] }
}
