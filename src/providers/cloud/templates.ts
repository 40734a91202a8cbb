// Reads the approved templates of a business account, and says which of them a template of ours can stand for.
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'
import type { NetworkTemplate } from '../outgoing.ts'
import type { RefusedLogin } from '../provider.ts'
import { isRefusedToken } from './errors.ts'
import { graph } from './graph.ts'
import { wordsFor } from './number.ts'
import { type CloudSettings, secretsOf } from './settings.ts'
import { type Fields, fieldsOf, objectsIn } from './values.ts'

const pageSize = 50
/** More than Meta allows an account to have. */
const mostPages = 200

/** All pages, in Meta's order. @throws PROVIDER_ERROR with the reason when Meta refuses the call, or cannot be reached. */
export async function readApproved(app: App, settings: CloudSettings): Promise<NetworkTemplate[] | RefusedLogin> {
  const { businessAccountId, accessToken } = settings
  const templates: NetworkTemplate[] = []
  const fields = 'name,language,status,parameter_format,components'
  let after: string | undefined
  for (let page = 0; page < mostPages; page++) {
    const query = { fields, status: 'APPROVED', limit: String(pageSize), ...(after && { after }) }
    const path = `${businessAccountId}/message_templates`
    const answer = await graph(app).call({ method: 'GET', path, query, accessToken })
    if (answer.is !== 'done') {
      const words = wordsFor(answer, secretsOf(settings))
      return answer.is === 'error' && isRefusedToken(answer.code) ? { refusedLogin: words } : fail('PROVIDER_ERROR', words)
    }
    const { data, paging } = answer.body
    templates.push(...objectsIn(data).filter(isApproved).map(templateOf))
    after = cursorIn(paging)
    if (after === undefined) break
  }
  return templates
}

function isApproved({ name, language, status }: Fields): boolean {
  return typeof name === 'string' && typeof language === 'string' && (status === undefined || status === 'APPROVED')
}

/** The last page has a cursor too, but no address of a next one. */
function cursorIn(paging: unknown): string | undefined {
  const { next, cursors } = fieldsOf(paging)
  const { after } = fieldsOf(cursors)
  return next !== undefined && typeof after === 'string' && after !== '' ? after : undefined
}

function templateOf({ name, language, parameter_format: format, components }: Fields): NetworkTemplate {
  const head = { name: String(name), language: String(language) }
  const parts = objectsIn(components)
  const unfit = parts.map(faultOf).find((fault) => fault !== undefined)
  if (unfit !== undefined) return { ...head, unfit }
  const text = parts.find(({ type }) => type === 'BODY')?.text
  if (typeof text !== 'string') return { ...head, unfit: 'it has no text' }
  const found = [...new Set([...text.matchAll(parameter)].map(([, one]) => one as string))]
  const isNamed = format === 'NAMED'
  const names = isNamed ? found : found.toSorted((a, b) => Number(a) - Number(b))
  const body = text.replaceAll(parameter, (_, one: string) => `{{custom.${one}}}`)
  return { ...head, body, parameters: names.map((one) => `custom.${one}`), ...(isNamed && { names }) }
}

/** `{{1}}` or `{{order_number}}`. */
const parameter = /\{\{\s*(\w+)\s*\}\}/g

/** Buttons that need no value for each message. */
const plainButtons = new Set(['QUICK_REPLY', 'PHONE_NUMBER', 'URL', 'VOICE_CALL'])

/** The reason for which a template with this part cannot be sent by its text and its values alone. */
function faultOf(part: Fields): string | undefined {
  const { type, format, text } = part
  switch (type) {
    case 'BODY':
    case 'FOOTER':
      return undefined
    case 'HEADER':
      if (format !== 'TEXT') return `its header is ${article(format)}: make a template with this file by hand`
      return hasParameter(text) ? 'its header has a value' : undefined
    case 'BUTTONS': {
      const buttons = objectsIn(part.buttons)
      const other = buttons.find((button) => !plainButtons.has(String(button.type)))
      if (other) return `it has a button of the type ${String(other.type)}`
      return buttons.some(({ url }) => hasParameter(url)) ? 'a button has a value' : undefined
    }
    default:
      return `it has a part of the type ${String(type)}`
  }
}

function article(format: unknown): string {
  const name = String(format).toLowerCase()
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}

function hasParameter(value: unknown): boolean {
  return typeof value === 'string' && value.includes('{{')
}
