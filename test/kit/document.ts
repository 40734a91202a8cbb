// The API's documents, and whether an answer is as they say: its status, and exactly the fields of its record.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { inject } from 'vitest'
import type { OpenApiDocument } from '../../rest-compat/openapi/document.ts'
import type { Surface } from '../../rest-compat/route.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Made once for the whole run; what went wrong where they could not be made. */
    documents: Record<Surface, OpenApiDocument> | { fault: string }
  }
}

export interface Given {
  method: string
  /** As it was asked for, `/api/…`. */
  path: string
  status: number
  body: unknown
}

/** The document of a surface as this checkout makes it. */
export function apiDocument(surface: Surface = 'public'): OpenApiDocument {
  const documents = inject('documents')
  if ('fault' in documents) throw new Error(`The documents of the API cannot be made: ${documents.fault}`)
  return documents[surface]
}

/** What a document says of its paths, and of everything else by its pointer. */
interface Judge {
  document: OpenApiDocument
  ajv: Ajv2020
  routes: [form: RegExp, path: string][]
  compiled: Map<string, ValidateFunction>
}

const judges = new Map<Surface, Judge>()
/** Where each surface begins, the longer first. */
const prefixes: [prefix: string, surface: Surface][] = [
  ['/api/v1', 'public'],
  ['/api', 'console'],
]

/** @throws when the document of the surface does not have that answer, or has it otherwise. What is of no surface is not looked at. */
export function expectDocumented({ method, path, status, body }: Given): void {
  const [prefix, surface] = prefixes.find(([start]) => path.startsWith(`${start}/`)) ?? []
  if (!prefix || !surface) return
  const judge = judgeOf(surface)
  const [, route] = judge.routes.find(([form]) => form.test(path.slice(prefix.length))) ?? []
  const operation = route && judge.document.paths[route]?.[method.toLowerCase()]
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
  const validate = validatorOf(judge, response.$ref ?? pointer(at))
  if (!validate(body)) throw new Error(`${told}, which is not as documented: ${judge.ajv.errorsText(validate.errors)}`)
}

/** The schema of a response at a pointer, compiled once. */
function validatorOf({ ajv, compiled }: Judge, response: string): ValidateFunction {
  let validate = compiled.get(response)
  if (!validate) {
    validate = ajv.compile({ $ref: `api${response}/content/application~1json/schema` })
    compiled.set(response, validate)
  }
  return validate
}

/** A record of that name in the document, exactly. @throws when it is none. */
export function expectRecord(name: string, record: unknown, surface: Surface = 'public'): void {
  const { ajv } = judgeOf(surface)
  const validate = ajv.compile({ $ref: `api#/components/schemas/${name}` })
  if (!validate(record)) throw new Error(`${name} ${JSON.stringify(record)}: ${ajv.errorsText(validate.errors)}`)
}

/** The payload of an event at webhooks, exactly. @throws when it is none. */
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
    // What is said word for word comes before what has parameters.
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

/** The same, where objects have no field that is not said. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([name, value]) => [name, closed(value)])
  const isOpen = 'properties' in node && 'type' in node && !('additionalProperties' in node)
  return Object.fromEntries([...entries, ...(isOpen ? [['additionalProperties', false]] : [])])
}
