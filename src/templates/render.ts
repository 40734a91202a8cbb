// Parses and renders the body of a template: text with placeholders. Values are filled in and never parsed again (no injection).
import { Tokenizer, TokenKind, type TopLevelToken } from 'liquidjs'
import { fail } from '../core/errors.ts'

export const contactFields = ['name', 'firstName', 'lastName', 'phone', 'email'] as const

/** Values of `{{contact.…}}`. Null means that there is none. */
export type TemplateContact = Record<(typeof contactFields)[number], string | null>

export interface Values {
  contact: TemplateContact | null
  /** Sources of `{{custom.…}}`, in order of precedence. Only own properties with string values count. */
  custom: readonly (Readonly<Record<string, unknown>> | null | undefined)[]
}

export interface Rendered {
  body: string
  /** The placeholders without a value, each once, in the order of the text. In `body` they stay as they were written. */
  missing: string[]
}

export interface Compiled {
  render: (values: Values) => Rendered
  /** One value, as the text shows it: with its fallback there. Undefined if it has none. */
  valueOf: (name: string, values: Values) => string | undefined
  /** Every value that the text refers to, each once: `contact.name`, `custom.order`. */
  names: readonly string[]
  /** The text without its placeholders: the least that any rendering contains. */
  fixed: string
}

interface Placeholder {
  name: string
  scope: 'contact' | 'custom'
  key: string
  written: string
  fallback: string | undefined
}

/** `{{contact.name}}`, `{{ custom.order }}`, and with a fallback for a missing value: `{{custom.order | default: "none"}}`. */
const form =
  /^\{\{\s*(?<scope>contact|custom)\.(?<key>[\p{L}\p{M}\p{N}_-]{1,100})(?:\s*\|\s*default:\s*(?<quoted>"[^"]*"|'[^']*'))?\s*\}\}$/u

/** @throws TEMPLATE_INVALID when the body is malformed; the message quotes the faulty part. */
export function compileTemplate(body: string): Compiled {
  const texts = ['']
  const placeholders: Placeholder[] = []
  for (const token of tokensOf(body)) {
    if (token.kind === TokenKind.Output) {
      placeholders.push(placeholderOf(token.getText()))
      texts.push('')
    } else {
      texts[texts.length - 1] += textOf(token)
    }
  }
  return {
    render: (values) => render(texts, placeholders, values),
    valueOf(name, values) {
      const shown = placeholders.find((placeholder) => placeholder.name === name)
      return find(shown ?? placeholderOf(`{{${name}}}`), values)
    },
    names: [...new Set(placeholders.map(({ name }) => name))],
    fixed: texts.join(''),
  }
}

function tokensOf(body: string): TopLevelToken[] {
  try {
    return new Tokenizer(body).readTopLevelTokens()
  } catch (error) {
    return refuse((error as Error).message)
  }
}

function textOf(token: TopLevelToken): string {
  const text = token.getText()
  if (token.kind === TokenKind.Tag) refuse(`${shown(text)} is a tag; only placeholders are supported`)
  if (text.includes('}}')) refuse('}} has no {{ before it')
  return text
}

function placeholderOf(written: string): Placeholder {
  const { scope, key, quoted } = form.exec(written)?.groups ?? {}
  if (scope === undefined || key === undefined) {
    return refuse(`${shown(written)} is not {{contact.NAME}}, {{custom.KEY}} or {{… | default: "text"}}`)
  }
  if (scope === 'contact' && !(contactFields as readonly string[]).includes(key)) {
    return refuse(`${shown(written)} is unknown; a contact has ${contactFields.join(', ')}`)
  }
  return { name: `${scope}.${key}`, scope: scope as Placeholder['scope'], key, written, fallback: quoted?.slice(1, -1) }
}

function refuse(fault: string): never {
  return fail('TEMPLATE_INVALID', `body: ${fault}`)
}

function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77).toWellFormed()}...` : text
}

function render(texts: readonly string[], placeholders: readonly Placeholder[], values: Values): Rendered {
  const missing = new Set<string>()
  let body = texts[0] as string
  for (const [i, placeholder] of placeholders.entries()) {
    const value = find(placeholder, values)
    if (value === undefined) missing.add(placeholder.name)
    body += (value ?? placeholder.written) + texts[i + 1]
  }
  return { body, missing: [...missing] }
}

function find({ scope, key, fallback }: Placeholder, { contact, custom }: Values): string | undefined {
  const value = scope === 'contact' ? ownText(contact, key) : firstText(custom, key)
  return value || (fallback ?? value)
}

function firstText(sources: Values['custom'], key: string): string | undefined {
  for (const source of sources) {
    const value = ownText(source, key)
    if (value !== undefined) return value
  }
  return undefined
}

function ownText(source: Readonly<Record<string, unknown>> | null | undefined, key: string): string | undefined {
  const value = source && Object.hasOwn(source, key) ? source[key] : undefined
  return typeof value === 'string' ? value : undefined
}
