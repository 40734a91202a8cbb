// The list of all REST routes.
import { accountRoutes } from './account.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { billingRoutes } from './billing.ts'
import { recipientExport, recipientRoutes } from './campaign-recipients.ts'
import { campaignRoutes } from './campaigns.ts'
import { contactExport, contactFiles } from './contact-files.ts'
import { contactGroupRoutes } from './contact-groups.ts'
import { contactJobRoutes } from './contact-jobs.ts'
import { contactRoutes } from './contacts.ts'
import type { ExportRoute } from './export.ts'
import { instanceRoutes } from './instances.ts'
import { mediaFiles, mediaRoutes } from './media.ts'
import { messageExport } from './message-files.ts'
import { messageRoutes } from './messages.ts'
import { numberLookupRoutes } from './number-lookups.ts'
import { retentionRoutes } from './retention.ts'
import type { FileRoute, RefusedRoute, Route } from './route.ts'
import { sandboxRoutes } from './sandbox.ts'
import { statusRoutes } from './statuses.ts'
import { suppressionFiles, suppressionRoutes } from './suppressions.ts'
import { teamAccessRoutes } from './team-access.ts'
import { teamRoutes } from './teams.ts'
import { templateRoutes } from './templates.ts'
import { webhookRoutes } from './webhooks.ts'

export const routes: readonly (Route | RefusedRoute | FileRoute | ExportRoute)[] = [
  ...messageRoutes,
  messageExport,
  ...campaignRoutes,
  ...recipientRoutes,
  recipientExport,
  ...instanceRoutes,
  ...sandboxRoutes,
  ...numberLookupRoutes,
  ...contactRoutes,
  ...contactGroupRoutes,
  ...contactJobRoutes,
  ...contactFiles,
  contactExport,
  ...suppressionRoutes,
  ...suppressionFiles,
  ...templateRoutes,
  ...mediaFiles,
  ...mediaRoutes,
  ...webhookRoutes,
  ...statusRoutes,
  ...retentionRoutes,
  ...accountRoutes,
  ...billingRoutes,
  ...apiKeyRoutes,
  ...teamRoutes,
  ...teamAccessRoutes,
]
