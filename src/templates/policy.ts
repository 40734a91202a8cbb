// Rules of a template as a whole, and of the message that it becomes.
import { fail } from '../core/errors.ts'
import { isLonger } from '../core/validation.ts'
import { longestCaption } from '../message-types/fields.ts'
import { needsFile, rowOf, type TemplateType } from '../message-types/service.ts'
import type { ApprovedTemplate } from '../providers/outgoing.ts'
import { type CloudTemplate, fillInCloud } from './cloud.ts'
import { type Compiled, compileTemplate, type Rendered, type Values } from './render.ts'

/** Per workspace: as many as one list can hold. */
export const maxTemplates = 1_000

/** The content of a template, stored or not. */
export interface TemplateText {
  type: TemplateType
  body: string
  mediaUrl: string | null
}

/** Maximum code points of a message: of its text, or of the caption of a medium. A type that shows none still has a template with a text. */
function bound(type: TemplateType): number {
  return rowOf(type).longestText ?? longestCaption
}

/** True if a message of the type cannot be without a text. */
export function needsText(type: TemplateType): boolean {
  return rowOf(type).required.includes('text')
}

/**
 * Checks that the template could ever become a message.
 * @throws TEMPLATE_INVALID when it could not, VALIDATION_ERROR when a template of type text has no text
 */
export function checkTemplate({ type, body, mediaUrl }: TemplateText): void {
  if (needsFile(type) && mediaUrl === null) fail('TEMPLATE_INVALID', `mediaUrl: is required for type ${type}`)
  if (needsText(type) && body === '') fail('VALIDATION_ERROR', 'body: is required')
  const { fixed } = compileTemplate(body)
  if (isLonger(fixed, bound(type))) fail('TEMPLATE_INVALID', `body: ${tooLong(type)} without its placeholders`)
}

/** Renders the text of a message of `type`. Some, such as audio, show none. */
export function renderAs(type: TemplateType, compiled: Compiled, values: Values): Rendered {
  return 'text' in rowOf(type).fields ? compiled.render(values) : { body: '', missing: [] }
}

/** Returns the reason for which a rendered text cannot be sent, or null. It names every missing value. */
export function faultOf(type: TemplateType, { body, missing }: Rendered): string | null {
  if (missing.length > 0) return `${missing.join(', ')}: ${missing.length === 1 ? 'has' : 'have'} no value`
  if (needsText(type) && body === '') return 'The rendered text is empty'
  return isLonger(body, bound(type)) ? `The rendered text ${tooLong(type)}` : null
}

/** {@link Rendered}, and the approved template that goes out in place of it, if there is one. */
export interface Filled extends Rendered {
  template: ApprovedTemplate | null
}

/** Fills in the text, and the approved template of `cloud`. Both lack what is missing in either. */
export function fillIn(type: TemplateType, compiled: Compiled, values: Values, cloud: CloudTemplate | null): Filled {
  const rendered = renderAs(type, compiled, values)
  if (!cloud) return { ...rendered, template: null }
  const { template, missing } = fillInCloud(cloud, compiled, values)
  return { body: rendered.body, missing: [...new Set([...rendered.missing, ...missing])], template }
}

function tooLong(type: TemplateType): string {
  return `has more than ${bound(type)} characters`
}
