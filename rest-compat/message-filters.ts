// Query parameters of lists and exports of messages.
import { z } from 'zod'
import { listQuery, once } from './route.ts'

/** An unescaped plus sign in a query string is decoded as a space. No phone number begins with a space, so the plus sign is restored. */
export const number = once.transform((value) => value.replace(/^ /, '+')).meta({ pattern: '^\\+[1-9]\\d{7,14}$' })
/** Restores the plus sign of a UTC offset in the same way. */
const moment = once.transform((value) => value.replace(/ (?=\d\d:\d\d$)/, '+'))
const sorts = { 'createdAt:desc': 'createdAt_desc', 'createdAt:asc': 'createdAt_asc' } as const

export const messagesQuery = z.object({
  ...listQuery(20),
  sort: z
    .enum(['createdAt:desc', 'createdAt:asc'])
    .default('createdAt:desc')
    .transform((sort) => sorts[sort])
    .describe('The sort order.'),
  status: once.optional().describe('Only messages in this status.'),
  statuses: once
    .transform((list) => list.split(','))
    .meta({ minItems: 1, maxItems: 8 })
    .optional()
    .describe('Only messages in one of these statuses, separated by commas.'),
  errorCode: once.optional().describe('Only messages that failed or were cancelled for this reason.'),
  direction: once.optional().describe('Only messages in this direction.'),
  type: once.optional().describe('Only messages of this type.'),
  instanceId: once.optional().describe('Only messages of this instance.'),
  contactId: once.optional().describe('Only messages about this contact.'),
  campaignId: once.optional().describe('Only messages of this campaign.'),
  reference: once.meta({ minLength: 1, maxLength: 255 }).optional().describe('Only messages with this `reference` of yours.'),
  to: number.optional().describe('Only messages to this number, E.164.'),
  phone: number.optional().describe('Only messages to or from this number of another party, E.164.'),
  text: once
    .meta({ minLength: 1, maxLength: 200 })
    .optional()
    .describe(
      'Only messages with this text in their `body`, ignoring case. At most the 31 days before `createdTo`, or before now, are searched, unless `phone`, `contactId`, `campaignId` or `reference` is given.',
    ),
  createdFrom: moment.optional().describe('Only messages accepted at or after this time.'),
  createdTo: moment.optional().describe('Only messages accepted before this time.'),
})
