// Makes the API's document as the server does.
import { describeApi, type OpenApiDocument } from '../../rest-compat/openapi.ts'
import { inputs } from '../../src/core/input.ts'
import { needsActive } from '../../src/core/root-fields.ts'
import { demoIds as demo } from '../../src/demo.ts'
import { plainStreamQuery as streamQuery } from '../../src/events/stream-plain.ts'
import { schema as graph } from '../../src/schema.ts'

export function describe(): OpenApiDocument {
  return describeApi({ graph, inputs, needsActive: (document) => needsActive(graph, document), streamQuery, demo })
}
