// GraphQL types of one delivery with its attempts, and of the health of an endpoint.
import { builder } from '../core/graph/builder.ts'
import { parse, uuid } from '../core/validation.ts'
import type { WebhookAttempt } from '../generated/prisma/client.ts'
import type { EndpointFigures, HealthBucket, LastFailure } from './attempts.sql.ts'
import { readDelivery } from './deliveries.ts'
import { attemptsOf, figuresOf, type HealthWindow, shownAttempts, type windows } from './figures.ts'
import { faultInWords } from './policy.ts'
import { DeliveryRef, EndpointRef } from './schema.ts'

const AttemptRef = builder.objectRef<WebhookAttempt>('WebhookAttempt').implement({
  description: 'One attempt of a delivery. An attempt whose process died before its end is not recorded.',
  extensions: { bytes: 8 * 1024 },
  fields: (t) => ({
    attempt: t.exposeInt('attempt', { description: 'Its number, from 1.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When the request was signed and sent.' }),
    durationMs: t.exposeInt('durationMs', {
      description: 'From the start of the request to the end of the answer, in milliseconds.',
    }),
    responseCode: t.exposeInt('responseCode', {
      nullable: true,
      description: 'The HTTP status of the answer; null if there was none.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed, in one word; null after a 2xx status.' }),
    reason: t.string({
      nullable: true,
      description: 'Why it failed, as a sentence; null after a 2xx status.',
      resolve: ({ error }) => error && faultInWords(error),
    }),
    answer: t.exposeString('answer', {
      nullable: true,
      description: 'The first 2 KiB of the body of the answer, as UTF-8; null if there was none.',
    }),
    headers: t.expose('headers', {
      type: 'JSON',
      nullable: true,
      extensions: { bytes: 2 * 1024 },
      description: 'The headers of the request as sent, by name; null if it could not be signed.',
    }),
  }),
})

builder.prismaObjectField(DeliveryRef, 'attemptLog', (t) =>
  t.field({
    type: [AttemptRef],
    extensions: { items: shownAttempts, columns: ['id'] },
    description: `Its last ${shownAttempts} attempts, oldest first. They are kept as long as the delivery.`,
    resolve: ({ id }, _, ctx) => attemptsOf(ctx, id),
  }),
)

const BucketRef = builder.objectRef<HealthBucket>('WebhookHealthBucket').implement({
  description: 'The attempts of one part of the window.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Its start.' }),
    attempts: t.exposeInt('attempts', { description: 'The number of attempts.' }),
    failed: t.exposeInt('failed', { description: 'Those without a 2xx status.' }),
    p95Ms: t.exposeInt('p95Ms', { nullable: true, description: 'The 95th percentile of their durations, in milliseconds.' }),
  }),
})

const LastFailureRef = builder.objectRef<LastFailure>('WebhookFailure').implement({
  description: 'A failed attempt.',
  fields: (t) => ({
    deliveryId: t.exposeID('deliveryId', { description: 'The delivery.' }),
    at: t.field({ type: 'DateTime', description: 'When it was sent.', resolve: ({ at }) => new Date(at) }),
    responseCode: t.exposeInt('responseCode', {
      nullable: true,
      description: 'The HTTP status of the answer; null if there was none.',
    }),
    error: t.exposeString('error', { description: 'Why it failed, in one word.' }),
    reason: t.string({ description: 'Why it failed, as a sentence.', resolve: ({ error }) => faultInWords(error) }),
  }),
})

const HealthRef = builder.objectRef<EndpointFigures>('WebhookHealth').implement({
  description: 'The answers of an endpoint within a window of time.',
  fields: (t) => ({
    from: t.expose('from', {
      type: 'DateTime',
      description:
        'The start of what is counted: that of the window, or the oldest attempt if there are more than a request counts (50,000, shared by its endpoints).',
    }),
    attempts: t.exposeInt('attempts', { description: 'The number of attempts.' }),
    failed: t.exposeInt('failed', { description: 'Those without a 2xx status.' }),
    successRate: t.float({
      nullable: true,
      description: 'The share of attempts that were answered with a 2xx status, 0 to 1; null without attempts.',
      resolve: ({ attempts, failed }) => (attempts > 0 ? (attempts - failed) / attempts : null),
    }),
    p95Ms: t.exposeInt('p95Ms', {
      nullable: true,
      description: 'The 95th percentile of the durations of attempts, in milliseconds; null without attempts.',
    }),
    lastFailure: t.expose('lastFailure', {
      type: LastFailureRef,
      nullable: true,
      description: 'The last failed attempt; null if there is none.',
    }),
    buckets: t.expose('buckets', {
      type: [BucketRef],
      extensions: { items: 32 },
      description:
        'The attempts over time, oldest first: by 5 minutes, hour, 6 hours or day. Parts without attempts are left out.',
    }),
  }),
})

const WindowRef = builder.enumType('WebhookHealthWindow', {
  description: 'A window of time that ends now.',
  values: {
    hour: { description: 'The last hour, by 5 minutes.' },
    day: { description: 'The last 24 hours, by the hour.' },
    week: { description: 'The last 7 days, by 6 hours.' },
    month: { description: 'The last 30 days, by the day.' },
  } satisfies Record<keyof typeof windows, { description: string }>,
})

builder.prismaObjectField(EndpointRef, 'health', (t) =>
  t.field({
    type: HealthRef,
    description: 'Its recent answers.',
    args: { window: t.arg({ type: WindowRef, description: 'The window; `day` by default.' }) },
    resolve: ({ id }, { window }, ctx) => figuresOf(ctx, id, (window ?? 'day') as HealthWindow),
  }),
)

builder.queryField('webhookDelivery', (t) =>
  t.field({
    type: DeliveryRef,
    nullable: true,
    description: 'One webhook delivery of the last 30 days.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, ctx) => readDelivery(ctx, parse(uuid, id, 'id')),
  }),
)
