// Builds the GraphQL schema from the parts of every domain.
import './accounts/schema.ts'
import './billing/schema.ts'
import './billing/checkout-schema.ts'
import './teams/schema.ts'
import './teams/member-schema.ts'
import './teams/invitation-schema.ts'
import './teams/key-schema.ts'
import './events/schema.ts'
import './media/schema.ts'
import './contacts/schema.ts'
import './contacts/groups/schema.ts'
import './contacts/bulk/schema.ts'
import './templates/schema.ts'
import './instances/schema.ts'
import './instances/lookup-schema.ts'
import './messages/schema.ts'
import './messages/contact-messages.ts'
import './messages/conversations-schema.ts'
import './messages/safety/health.ts'
import './campaigns/schema.ts'
import './webhooks/schema.ts'
import { builder } from './core/graph/builder.ts'
import { eventDefinitions, liveDefinitions } from './event-types.ts'
import { registerEventTypes } from './events/log/event-type.ts'

registerEventTypes([...eventDefinitions, ...liveDefinitions])

export const schema = builder.toSchema()
