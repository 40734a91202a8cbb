// The API's document, and whether an answer is as it says: its status, and exactly the fields of its record.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { inject } from 'vitest'
import type { OpenApiDocument } from '../../rest-compat/openapi.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Made once for the whole run; what went wrong where it could not be made. */
    document: OpenApiDocument | { fault: string }
  }
}

export interface Given {
  method: string
  /** Below `/api/v1`. */
  path: string
  status: number
  body: unknown
}

/** The document as this checkout makes it. */
export function apiDocument(): OpenApiDocument {
  const document = inject('document')
  if ('fault' in document) throw new Error(`The document of the API cannot be made: ${document.fault}`)
  return document as OpenApiDocument
}

let judges: { ajv: Ajv2020; routes: [form: RegExp, path: string][] } | undefined
const compiled = new Map<string, ValidateFunction>()

/** @throws when the document does not have that answer, or has it otherwise. */
export function expectDocumented({ method, path, status, body }: Given): void {
  const [, route] = judge().routes.find(([form]) => form.test(path)) ?? []
  const operation = route && apiDocument().paths[route]?.[method.toLowerCase()]
  const told = `${method} ${path} answered ${status} ${JSON.stringify(body)?.slice(0, 500)}`
  if (!route || !operation) {
    const expected = route ? 405 : 404
    // A path that the document does not have may still be refused before anybody looks for it.
    if (status !== expected && status < 400) throw new Error(`${told}, and the document has no such route`)
    return
  }
  if (!(status in operation.responses)) throw new Error(`${told}, and the document has no ${status} of ${method} ${route}`)
  const at = ['paths', route, method.toLowerCase(), 'responses', String(status)]
  const response = operation.responses[status] as { $ref?: string; content?: Record<string, unknown> }
  const content = response.content ?? (response.$ref ? { 'application/json': {} } : {})
  if (!('application/json' in content)) return
  const validate = validatorOf(response.$ref ?? pointer(at))
  if (!validate(body)) throw new Error(`${told}, which is not as documented: ${judge().ajv.errorsText(validate.errors)}`)
}

/** The schema of a response at a pointer, compiled once. */
function validatorOf(response: string): ValidateFunction {
  let validate = compiled.get(response)
  if (!validate) {
    validate = judge().ajv.compile({ $ref: `api${response}/content/application~1json/schema` })
    compiled.set(response, validate)
  }
  return validate
}

/** A record of that name in the document, exactly. @throws when it is none. */
export function expectRecord(name: string, record: unknown): void {
  const validate = judge().ajv.compile({ $ref: `api#/components/schemas/${name}` })
  if (!validate(record)) throw new Error(`${name} ${JSON.stringify(record)}: ${judge().ajv.errorsText(validate.errors)}`)
}

/** The payload of an event at webhooks, exactly. @throws when it is none. */
export function expectPayload(event: string, payload: unknown): void {
  const at = pointer(['webhooks', event, 'post', 'requestBody'])
  const validate = validatorOf(at)
  if (!validate(payload)) throw new Error(`${JSON.stringify(payload)}: ${judge().ajv.errorsText(validate.errors)}`)
}

function judge() {
  if (!judges) {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    formats.default(ajv)
    const document = apiDocument()
    ajv.addSchema(closed(document) as object, 'api')
    // What is said word for word comes before what has parameters.
    const paths = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length)
    judges = { ajv, routes: paths.map((path) => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), path]) }
  }
  return judges
}

function pointer(parts: readonly string[]): string {
  return `#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
}

/** The same, where objects have no field that is not said. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([name, value]) => [name, closed(value)])
  const isOpen = 'properties' in node && 'type' in node && !('additionalProperties' in node)
  return Object.fromEntries([...entries, ...(isOpen ? [['additionalProperties', false]] : [])])
}
