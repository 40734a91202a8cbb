// The template that Meta approved and that stands for a template of ours: its name there, and the values that fill it in.
import { fail, type Issue, invalid } from '../core/errors.ts'
import type { TemplateType } from '../message-types/service.ts'
import type { ApprovedTemplate } from '../providers/outgoing.ts'
import { type Compiled, compileTemplate, type Values } from './render.ts'

/** As a template stores it. `parameters` are the names of values: `contact.firstName`, `custom.order`. */
export interface CloudTemplate {
  name: string
  language: string
  parameters: string[]
  /** The names of the parameters at Meta, if the template was imported and has named ones. */
  names?: string[]
  /** True if an import made the template, which a later one may then change. */
  imported?: true
}

/** The same as callers give it. */
export interface GivenCloud {
  name?: string | null | undefined
  language?: string | null | undefined
  parameters?: readonly string[] | null | undefined
}

const nameForm = /^[a-z0-9_]{1,512}$/
const languageForm = /^[a-z]{2,3}(_[A-Za-z0-9]{2,4})?$/

/** Types whose file can be the header of an approved template, and the one without a file. */
const withHeader: readonly TemplateType[] = ['text', 'image', 'video', 'document']

/**
 * The mapping to store. An import's knowledge of the template at Meta stays while `given` names the same one.
 * @throws TEMPLATE_INVALID when it could not be sent; the message names each fault.
 */
export function cloudToStore(given: GivenCloud, before: CloudTemplate | null): CloudTemplate {
  const { name, language } = given
  const parameters = [...(given.parameters ?? [])]
  const faults: Issue[] = []
  const refuse = (path: string, message: string) => faults.push({ path: `cloud.${path}`, message })
  if (!name) refuse('name', 'is required')
  else if (!nameForm.test(name)) refuse('name', 'must be lower-case letters, digits and _, at most 512')
  if (!language) refuse('language', 'is required')
  else if (!languageForm.test(language)) refuse('language', 'must be a code such as en or en_US')
  for (const [i, path] of parameters.entries()) if (!isPath(path)) refuse(`parameters.${i}`, pathRule)
  if (faults.length > 0 || !name || !language) throw invalid(faults, { code: 'TEMPLATE_INVALID' })
  const isSame = before?.name === name && before.language === language
  const names = isSame && before.names?.length === parameters.length ? { names: before.names } : {}
  return { name, language, parameters, ...names, ...(isSame && before.imported && { imported: true }) }
}

/** @throws TEMPLATE_INVALID when Meta has no templates that show this type. */
export function checkCloudType(type: TemplateType, cloud: CloudTemplate | null): void {
  if (cloud && !withHeader.includes(type)) fail('TEMPLATE_INVALID', `cloud: cannot be given with type ${type}`)
}

const pathRule = 'must be the name of a value, such as contact.firstName or custom.order'

/** True if a text may refer to the value by this name. */
function isPath(path: string): boolean {
  try {
    return compileTemplate(`{{${path}}}`).names[0] === path
  } catch {
    return false
  }
}

/**
 * The approved template with its values, each with the fallback that the text of `compiled` has for it, and the names of the missing ones.
 * An empty value counts as missing, because Meta refuses it.
 */
export function fillInCloud(
  { name, language, names, parameters }: CloudTemplate,
  compiled: Compiled,
  values: Values,
): { template: ApprovedTemplate; missing: string[] } {
  const found = parameters.map((path) => compiled.valueOf(path, values) ?? '')
  const missing = parameters.filter((_, i) => found[i] === '')
  return { template: { name, language, parameters: found, ...(names && { names }) }, missing }
}
