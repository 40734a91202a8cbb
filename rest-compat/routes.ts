// Every REST row there is.
import { accountRoutes } from './account.ts'
import { contactRoutes } from './contacts.ts'
import { instanceRoutes } from './instances.ts'
import { messageRoutes } from './messages.ts'
import type { RefusedRoute, Route } from './route.ts'
import { statusRoutes } from './statuses.ts'
import { webhookRoutes } from './webhooks.ts'

export const routes: readonly (Route | RefusedRoute)[] = [
  ...messageRoutes,
  ...instanceRoutes,
  ...contactRoutes,
  ...webhookRoutes,
  ...statusRoutes,
  ...accountRoutes,
]
