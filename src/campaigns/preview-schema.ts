// GraphQL query previewCampaign: what creating a campaign would do.
import { QuotaPreviewRef } from '../billing/quota-preview.ts'
import { builder } from '../core/graph/builder.ts'
import { MessageSafetyRef } from '../messages/object.ts'
import { CreateCampaignInput } from './input.ts'
import { type CampaignPreview, type LeftOut, type LeftOuts, mostNamed, previewCampaign } from './preview.ts'

const LeftOutRef = builder.objectRef<LeftOut>('LeftOutRecipient').implement({
  description: 'A recipient that would get no message.',
  fields: (t) => ({
    to: t.exposeString('to', { nullable: true, description: 'The number, E.164; null if it is invalid.' }),
    index: t.exposeInt('index', {
      nullable: true,
      description: 'Its index in `recipients`, from 0; null for a contact and a member of a group.',
    }),
    reason: t.exposeString('reason', { description: 'Why, in words or as a code.' }),
  }),
})

const LeftOutsRef = builder.objectRef<LeftOuts>('LeftOutRecipients').implement({
  description: 'Recipients that would get no message for one kind of reason.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'How many.' }),
    first: t.expose('first', {
      type: [LeftOutRef],
      extensions: { items: mostNamed },
      description: `The first of them, at most ${mostNamed}.`,
    }),
  }),
})

const CampaignPreviewRef = builder.objectRef<CampaignPreview>('CampaignPreview').implement({
  description: 'A campaign as it would be created now. It is not stored.',
  fields: (t) => ({
    recipientsCount: t.exposeInt('recipients', { description: 'The distinct valid numbers.' }),
    sendableCount: t.exposeInt('sendable', { description: 'Those that would get a message.' }),
    repeatedCount: t.exposeInt('repeated', { description: 'Items of `recipients` whose number another one has already.' }),
    invalid: t.expose('invalid', {
      type: LeftOutsRef,
      description: 'Invalid items of `recipients`. `createCampaign` refuses an input that has any.',
    }),
    suppressed: t.expose('suppressed', { type: LeftOutsRef, description: 'Numbers in the do-not-contact list.' }),
    missing: t.expose('missing', {
      type: LeftOutsRef,
      description: 'Recipients whose message cannot be rendered, as when a value of the template is missing.',
    }),
    ratePerMinute: t.exposeInt('ratePerMinute', {
      nullable: true,
      description:
        'Most messages a minute: the given rate, or the default by the safety state of the instance. Null in the sandbox without a rate.',
    }),
    firstAt: t.expose('firstAt', { type: 'DateTime', description: 'When the first message would leave.' }),
    lastAt: t.expose('lastAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the last message would leave, by the rate and the quiet hours. Null without a rate, and after more than 366 periods of quiet hours.',
    }),
    warnings: t.exposeStringList('warnings', {
      extensions: { items: 10 },
      description:
        'Limits that messages of its first day would exceed, of which the first 5000 are looked at. For information only: nothing is blocked.',
    }),
    safety: t.expose('safety', { type: MessageSafetyRef, description: 'Their assessment by the safety rules.' }),
    isWithinQuota: t.exposeBoolean('isEnough', {
      description: 'False if the quota that is left now is too small: the campaign would pause itself when it is used up.',
    }),
    quota: t.expose('quota', {
      type: QuotaPreviewRef,
      nullable: true,
      description: 'The quota before and after it; null for collaborators of a team and for its keys, who cannot see its usage.',
    }),
  }),
})

builder.queryField('previewCampaign', (t) =>
  t.field({
    type: CampaignPreviewRef,
    description:
      'What `createCampaign` would do with this input: it is checked and refused in the same way, and nothing is stored or sent. Invalid recipients are counted instead of refused, as long as others are left.',
    errors: ['NOT_FOUND', 'TEMPLATE_INVALID', 'SUBSCRIPTION_INACTIVE', 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED'],
    authScopes: { active: true },
    args: {
      input: t.arg({
        type: CreateCampaignInput.ref,
        required: true,
        description: 'The message and its recipients; its idempotencyKey has no effect.',
      }),
    },
    resolve: (_, { input }, ctx) => previewCampaign(ctx, input),
  }),
)
