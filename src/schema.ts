// The graph: imports every domain's part of it and builds the whole.
import './billing/schema.ts'
import './billing/checkout-schema.ts'
import './events/schema.ts'
import './media/schema.ts'
import './templates/schema.ts'
import './contacts/schema.ts'
import './contacts/group-schema.ts'
import './contacts/bulk-schema.ts'
import './instances/schema.ts'
import './instances/lookup-schema.ts'
import './messages/schema.ts'
import './messages/contact-messages.ts'
import './messages/health.ts'
import './campaigns/schema.ts'
import './webhooks/schema.ts'
import { builder } from './core/builder.ts'

export const schema = builder.toSchema()
