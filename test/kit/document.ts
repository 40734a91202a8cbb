// Validates answers against the OpenAPI documents: the status, and exactly the fields of the record.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { inject } from 'vitest'
import type { OpenApiDocument } from '../../rest-compat/openapi/document.ts'
import type { Surface } from '../../rest-compat/route.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Generated once for the whole run; the error where generation failed. */
    documents: Record<Surface, OpenApiDocument> | { fault: string }
  }
}

export interface Given {
  method: string
  /** The requested path, `/api/…`. */
  path: string
  status: number
  body: unknown
}

/** The document of a surface, as generated from this checkout. */
export function apiDocument(surface: Surface = 'public'): OpenApiDocument {
  const documents = inject('documents')
  if ('fault' in documents) throw new Error(`The documents of the API cannot be made: ${documents.fault}`)
  return documents[surface]
}

/** The routes of a document, and its compiled validators by JSON pointer. */
interface Judge {
  document: OpenApiDocument
  ajv: Ajv2020
  routes: [form: RegExp, path: string][]
  compiled: Map<string, ValidateFunction>
}

const judges = new Map<Surface, Judge>()
/** The path prefix of each surface, the longer first. */
const prefixes: [prefix: string, surface: Surface][] = [
  ['/api/v1', 'public'],
  ['/api', 'console'],
]

/**
 * Ignores paths that belong to no surface.
 * @throws when the document of the surface does not have that answer, or has it otherwise.
 */
export function expectDocumented({ method, path, status, body }: Given): void {
  const [prefix, surface] = prefixes.find(([start]) => path.startsWith(`${start}/`)) ?? []
  if (!prefix || !surface) return
  const judge = judgeOf(surface)
  const [, route] = judge.routes.find(([form]) => form.test(path.slice(prefix.length))) ?? []
  const operation = route && judge.document.paths[route]?.[method.toLowerCase()]
  const outcome = `${method} ${path} answered ${status} ${JSON.stringify(body)?.slice(0, 500)}`
  if (!route || !operation) {
    const expected = route ? 405 : 404
    // A path that the document does not have may still be refused before it is routed.
    if (status !== expected && status < 400) throw new Error(`${outcome}, and the document has no such route`)
    return
  }
  if (!(status in operation.responses)) throw new Error(`${outcome}, and the document has no ${status} of ${method} ${route}`)
  const at = ['paths', route, method.toLowerCase(), 'responses', String(status)]
  const response = operation.responses[status] as { $ref?: string; content?: Record<string, unknown> }
  const content = response.content ?? (response.$ref ? { 'application/json': {} } : {})
  if (!('application/json' in content)) return
  const validate = validatorOf(judge, response.$ref ?? pointer(at))
  if (!validate(body)) throw new Error(`${outcome}, which is not as documented: ${judge.ajv.errorsText(validate.errors)}`)
}

/** The validator of a response at a JSON pointer, compiled once. */
function validatorOf({ ajv, compiled }: Judge, response: string): ValidateFunction {
  let validate = compiled.get(response)
  if (!validate) {
    validate = ajv.compile({ $ref: `api${response}/content/application~1json/schema` })
    compiled.set(response, validate)
  }
  return validate
}

/** Expects exactly a record of that name in the document. @throws when it does not conform. */
export function expectRecord(name: string, record: unknown, surface: Surface = 'public'): void {
  const { ajv } = judgeOf(surface)
  const validate = ajv.compile({ $ref: `api#/components/schemas/${name}` })
  if (!validate(record)) throw new Error(`${name} ${JSON.stringify(record)}: ${ajv.errorsText(validate.errors)}`)
}

/** Expects exactly the payload of a webhook event. @throws when it does not conform. */
export function expectPayload(event: string, payload: unknown): void {
  const judge = judgeOf('public')
  const validate = validatorOf(judge, pointer(['webhooks', event, 'post', 'requestBody']))
  if (!validate(payload)) throw new Error(`${JSON.stringify(payload)}: ${judge.ajv.errorsText(validate.errors)}`)
}

function judgeOf(surface: Surface): Judge {
  let judge = judges.get(surface)
  if (!judge) {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    formats.default(ajv)
    const document = apiDocument(surface)
    ajv.addSchema(closed(document) as object, 'api')
    // Literal paths come before paths with parameters.
    const paths = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length)
    const routes = paths.map((path): [RegExp, string] => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), path])
    judge = { document, ajv, routes, compiled: new Map() }
    judges.set(surface, judge)
  }
  return judge
}

function pointer(parts: readonly string[]): string {
  return `#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
}

/** The same schema, where objects allow no unknown fields. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([name, value]) => [name, closed(value)])
  const isOpen = 'properties' in node && 'type' in node && !('additionalProperties' in node)
  return Object.fromEntries([...entries, ...(isOpen ? [['additionalProperties', false]] : [])])
}
