// REST route of statuses, which no plan includes.
import type { RefusedRoute } from './route.ts'

export const statusRoutes: RefusedRoute[] = [
  {
    method: 'POST',
    path: '/statuses',
    summary: 'Publish a status; refused on every plan',
    operationId: 'publishStatus',
    surfaces: ['public', 'console'],
    scope: 'workspace',
    refuse: 'STATUSES_NOT_AVAILABLE_ON_PLAN',
  },
]
