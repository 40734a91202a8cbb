// Describes the routes that stream a list as CSV in the OpenAPI document.
import { columnsOf, type ExportRoute } from '../export.ts'
import { errorResponses, errorsOf } from './errors.ts'
import { selectedField } from './graph.ts'
import { type Components, headersTaken, type Operation, type OperationSource, parametersOf } from './operation.ts'
import { headerRefs } from './surface.ts'

export function exportOperation(source: OperationSource, components: Components, route: ExportRoute): Operation {
  const { operationId, summary, description, record, keys } = route
  const { rules, schemas } = components
  const field = selectedField(source.graph, route.list.document)
  const titles = columnsOf(record, keys ? ['KEY'] : []).map(({ title }) => title)
  const content = { 'text/csv': { schema: { type: 'string' }, example: `${titles.join(',')}\n` } }
  return {
    operationId,
    summary,
    description,
    parameters: [...parametersOf(route, field, schemas, source.demo), ...headersTaken(rules, route)],
    responses: {
      200: {
        description: 'The file: a line of titles, and a line for each record.',
        headers: headerRefs(rules.headers),
        content,
      },
      ...errorResponses(errorsOf(rules, route, field.errors), components),
    },
    security: rules.security,
  }
}
