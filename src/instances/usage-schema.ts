// GraphQL field Usage.instances.
import { UsageRef } from '../billing/schema.ts'
import { builder } from '../core/graph/builder.ts'
import { countInstances } from './count.ts'

builder.objectField(UsageRef, 'instances', (t) =>
  t.int({
    description: 'Instances that exist now.',
    resolve: (_, __, { app, principal }) => countInstances(app.db, principal.ownerId),
  }),
)
