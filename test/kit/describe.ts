// Generates the OpenAPI documents as the server does.
import { type ApiSource, describeApi, type OpenApiDocument } from '../../rest-compat/openapi/document.ts'
import type { Surface } from '../../rest-compat/route.ts'
import { describeAuth } from '../../src/accounts/sign-in/auth-routes.ts'
import { inputs } from '../../src/core/graph/input.ts'
import { needsActive } from '../../src/core/graph/root-fields.ts'
import { demoIds as demo } from '../../src/demo/demo.ts'
import { eventDefinitions as events } from '../../src/event-types.ts'
import { plainStreamQuery as streamQuery } from '../../src/events/live/stream-plain.ts'
import { messageExamples } from '../../src/message-types/service.ts'
import { schema as graph } from '../../src/schema.ts'

export function describe(): Record<Surface, OpenApiDocument> {
  const source: ApiSource = {
    graph,
    inputs,
    needsActive: (document) => needsActive(graph, document),
    streamQuery,
    events,
    identity: describeAuth('/auth'),
    demo,
    messageExamples: messageExamples(demo),
  }
  return { public: describeApi(source, 'public'), console: describeApi(source, 'console') }
}
