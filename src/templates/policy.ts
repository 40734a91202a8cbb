// Rules of a template as a whole, and of the message that it becomes.
import { fail } from '../core/errors.ts'
import { isLonger } from '../core/validation.ts'
import { type Compiled, compileTemplate, type Rendered, type Values } from './render.ts'

export const templateTypes = ['text', 'image', 'video', 'audio', 'document'] as const
export type TemplateType = (typeof templateTypes)[number]

/** The content of a template, stored or not. */
export interface TemplateText {
  type: TemplateType
  body: string
  mediaUrl: string | null
}

/** Maximum code points of a message: of its text, or of the caption of a medium. */
function bound(type: TemplateType): number {
  return type === 'text' ? 4096 : 1024
}

/**
 * Checks that the template could ever become a message.
 * @throws TEMPLATE_INVALID when it could not, VALIDATION_ERROR when a template of type text has no text
 */
export function checkTemplate({ type, body, mediaUrl }: TemplateText): void {
  if (type !== 'text' && mediaUrl === null) fail('TEMPLATE_INVALID', `mediaUrl: is required for type ${type}`)
  if (type === 'text' && body === '') fail('VALIDATION_ERROR', 'body: is required')
  const { fixed } = compileTemplate(body)
  if (isLonger(fixed, bound(type))) fail('TEMPLATE_INVALID', `body: ${tooLong(type)} without its placeholders`)
}

/** Renders the text of a message of `type`. An audio message shows none. */
export function renderAs(type: TemplateType, compiled: Compiled, values: Values): Rendered {
  return type === 'audio' ? { body: '', missing: [] } : compiled.render(values)
}

/** Returns the reason for which a rendered text cannot be sent, or null. It names every missing value. */
export function faultOf(type: TemplateType, { body, missing }: Rendered): string | null {
  if (missing.length > 0) return `${missing.join(', ')}: ${missing.length === 1 ? 'has' : 'have'} no value`
  if (type === 'text' && body === '') return 'The rendered text is empty'
  return isLonger(body, bound(type)) ? `The rendered text ${tooLong(type)}` : null
}

/**
 * The text of the message that a template of `type` becomes.
 * @throws TEMPLATE_INVALID when {@link faultOf} returns a reason
 */
export function fillIn(type: TemplateType, compiled: Compiled, values: Values): string {
  const rendered = renderAs(type, compiled, values)
  const fault = faultOf(type, rendered)
  return fault === null ? rendered.body : fail('TEMPLATE_INVALID', fault)
}

function tooLong(type: TemplateType): string {
  return `has more than ${bound(type)} characters`
}
