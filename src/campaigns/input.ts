// Input of a campaign: a message without its recipient, and the recipients.
import { z } from 'zod'
import { defineInput, type Rules } from '../core/graph/input.ts'
import { moment, nameOf, uuid } from '../core/validation.ts'
import { typeFields } from '../message-types/service.ts'
import { messageFields, scheduleRules } from '../messages/input.ts'
import { maxRate } from './pace.ts'
import { maxRecipients } from './policy.ts'
import { quietHours } from './quiet-hours.ts'

const { contactId, ...ofTypes } = typeFields
const { instanceId, to, type, templateId, variables, reference, idempotencyKey } = messageFields

/** A recipient given as a phone number. */
export const recipient = z.object({ to, reference, variables: variables.describe('Values of `custom.*` for this recipient.') })

const name = nameOf(200).describe('Its name, 1 to 200 characters.')

const pace = {
  ratePerMinute: z
    .int()
    .min(1)
    .max(maxRate)
    .nullish()
    .describe(
      'Most messages a minute, 1 to 6000, spread evenly. Without it, the safety state of the instance decides: new 5, warming 20, stable 60, at_risk 10, restricted 1; the sandbox has no limit.',
    ),
  quietHours: quietHours.nullish().describe('Hours of the day in which nothing leaves.'),
}

const rules: Rules = (value, report, config) => {
  scheduleRules(value, report, config)
  const lists = [value.recipients, value.contactIds, value.groupIds]
  if (lists.every((list) => list == null || (Array.isArray(list) && list.length === 0))) {
    report(['recipients'], 'is required, unless contactIds or groupIds are given')
  }
}

export const CreateCampaignInput = defineInput(
  'CreateCampaignInput',
  'One message to many recipients: a type with its fields, or a template. Each distinct number receives it once.',
  z.object({
    instanceId,
    type,
    templateId,
    ...ofTypes,
    idempotencyKey,
    name,
    ...pace,
    contactId: contactId.describe('The contact to share (type contact).'),
    variables: variables.describe('Values of `custom.*` in a template, for recipients without values of their own.'),
    // Items are unknown here. `readNumbers` validates them in small batches, so that 100,000 recipients do not block the event loop.
    recipients: z
      .array(z.unknown().meta({ ...z.toJSONSchema(recipient, { io: 'input' }), description: 'A number.' }))
      .max(maxRecipients)
      .nullish()
      .describe(
        'Numbers, up to 100000: `{ to, variables, reference }`. `to` is E.164; `variables` are optional values of `custom.*` for this recipient, and `reference` is your own name for its message.',
      ),
    contactIds: z.array(uuid).max(maxRecipients).nullish().describe('Contacts, up to 100000.'),
    groupIds: z.array(uuid).max(1_000).nullish().describe('Contact groups, up to 1000. Their current members become recipients.'),
    scheduledAt: moment
      .nullish()
      .describe(
        'When to start: ISO 8601 with an offset, in the future, at most one year ahead. Without it the campaign starts now.',
      ),
  }),
  rules,
)

export type CampaignFields = ReturnType<typeof CreateCampaignInput.parse>

export const UpdateCampaignInput = defineInput(
  'UpdateCampaignInput',
  'Changes to a campaign. Omitted fields stay unchanged; null means the default rate, or no quiet hours.',
  z.object({ name: name.optional().describe(name.description ?? ''), ...pace }),
  (value, report) => {
    if (Object.keys(value).every((key) => value[key] === undefined)) report([], 'must change name, ratePerMinute or quietHours')
  },
)

export type UpdateCampaign = ReturnType<typeof UpdateCampaignInput.parse>
