// GraphQL inputs of webhook endpoints, and their validation rules.
import { z } from 'zod'
import { defineInput, idempotencyKey, type Rules } from '../core/graph/input.ts'
import { checkTarget } from '../core/network/address.ts'
import { eventType } from '../events/log/event-type.ts'

const events = z
  .array(eventType)
  .min(1)
  .max(50)
  .refine((list) => new Set(list).size === list.length, 'must be distinct')

const fields = {
  url: z.string().describe('The address of the endpoint: https, at most 2048 characters, not in a private network.'),
  events: events.describe('The event types to deliver, 1 to 50, distinct.'),
}

const urlRule: Rules = (value, report, config) => {
  const fault = typeof value.url === 'string' ? checkTarget(value.url, config.allowedPrivateTargets, 'webhook') : undefined
  if (fault) report(['url'], fault)
}

export const CreateWebhookInput = defineInput(
  'CreateWebhookInput',
  'A new webhook endpoint.',
  z.object({
    ...fields,
    idempotencyKey,
  }),
  urlRule,
)

export const UpdateWebhookInput = defineInput(
  'UpdateWebhookInput',
  'Changes to a webhook endpoint. Omitted fields stay unchanged.',
  z.object({
    url: fields.url.optional().describe('The new address, with the rules of a new endpoint.'),
    events: fields.events.optional().describe('The new event types, 1 to 50, distinct.'),
    enabled: z.boolean().optional().describe('`false` stops deliveries, `true` starts them again.'),
  }),
  (value, report, config) => {
    urlRule(value, report, config)
    const known = ['url', 'events', 'enabled'].some((field) => value[field] !== undefined)
    if (!known) report([], 'must change url, events or enabled')
  },
)

export type CreateWebhook = ReturnType<typeof CreateWebhookInput.parse>
export type UpdateWebhook = ReturnType<typeof UpdateWebhookInput.parse>
