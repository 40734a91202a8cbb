// Describes the file routes in the OpenAPI document.
import type { FileRoute } from '../route.ts'
import { errorResponses, errorsOf } from './errors.ts'
import { type Components, headersTaken, type Operation, type OperationSource } from './operation.ts'
import { headerRefs, type SurfaceRules } from './surface.ts'

const bytes = { type: 'string', format: 'binary' }

export function fileOperation(source: OperationSource, components: Components, route: FileRoute): Operation {
  const { operationId, summary, description } = route
  const { rules } = components
  const own = route.answer ? takesFile(source, components, route, route.answer) : givesFile(rules)
  return {
    operationId,
    summary,
    description,
    ...own,
    parameters: [...own.parameters, ...headersTaken(rules, route)],
    responses: { ...own.responses, ...errorResponses(errorsOf(rules, route, []), components, route.method === 'POST') },
    security: rules.security,
  }
}

function takesFile(
  { graph, inputs }: OperationSource,
  { schemas, rules }: Components,
  { status, form: others, operationId }: FileRoute,
  answer: NonNullable<FileRoute['answer']>,
) {
  const input = others === undefined ? undefined : inputs.get(others)
  const form = {
    type: 'object',
    required: ['file'],
    properties: {
      file: { ...bytes, description: 'The file. Its name does not matter.' },
      ...(input && schemas.query(input.schema, () => undefined).properties),
    },
  }
  const type = graph.getMutationType()?.getFields()[operationId]?.type ?? graph.getQueryType()?.getFields().media?.type
  const data = schemas.answer(answer, type)
  const headers = headerRefs([...rules.headers, 'Idempotency-Replayed'])
  return {
    parameters: [],
    requestBody: { required: true, content: { 'multipart/form-data': { schema: form } } },
    responses: {
      [status]: {
        description: statusWords[status] ?? 'The stored file.',
        headers,
        content: { 'application/json': { schema: { type: 'object', required: ['data'], properties: { data } } } },
      },
    },
  }
}

const statusWords: Record<number, string> = {
  200: 'The lines of the file, counted.',
  202: 'The request is processed in the background.',
}

function givesFile({ headers }: SurfaceRules) {
  const sent = { headers: headerRefs(headers), content: { '*/*': { schema: bytes } } }
  return {
    parameters: [
      { name: 'id', in: 'path' as const, required: true, description: 'Its id.', schema: { type: 'string', format: 'uuid' } },
    ],
    responses: {
      200: { description: 'The file.', ...sent },
      206: { description: 'The part that `Range` requests.', ...sent },
      304: { description: 'The document still has the `ETag` of `If-None-Match`.' },
      416: { description: 'The `Range` starts after the end of the file.' },
    },
  }
}
