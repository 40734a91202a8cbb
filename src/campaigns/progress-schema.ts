// GraphQL fields of the progress of a campaign: Campaign.progress and Campaign.failures.
import { z } from 'zod'
import { builder } from '../core/graph/builder.ts'
import { loadFound } from '../core/graph/load.ts'
import { parse } from '../core/validation.ts'
import { messageErrorOf } from '../messages/error-codes.ts'
import { MessageErrorCodeRef } from '../messages/object.ts'
import { type Bucket, type Failure, mostFailures, readFailures, readProgress } from './progress.sql.ts'
import { RecipientStatusRef } from './recipients-schema.ts'
import { CampaignRef } from './schema.ts'

const mostBuckets = 200
const buckets = z.int().min(1).max(mostBuckets)

const BucketRef = builder.objectRef<Bucket>('CampaignBucket').implement({
  description: 'Steps of the recipients of a campaign in one part of its time. A recipient counts once for each step.',
  fields: (t) => ({
    from: t.expose('from', { type: 'DateTime', description: 'The beginning.' }),
    to: t.expose('to', { type: 'DateTime', description: 'The end, which is the beginning of the next part.' }),
    queued: t.exposeInt('queued', { description: 'Messages created.' }),
    sent: t.exposeInt('sent', { description: 'Messages accepted by the network.' }),
    delivered: t.exposeInt('delivered', { description: 'Messages delivered to the phone.' }),
    read: t.exposeInt('read', { description: 'Messages read.' }),
    failed: t.exposeInt('failed', { description: 'Recipients that failed.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Recipients that were cancelled.' }),
  }),
})

const FailureRef = builder.objectRef<Failure>('CampaignFailure').implement({
  description: 'A reason for which recipients of a campaign failed or were cancelled.',
  fields: (t) => ({
    status: t.expose('status', { type: RecipientStatusRef, description: '`failed` or `cancelled`.' }),
    error: t.exposeString('error', { description: 'The reason as a code, as recipients have it.' }),
    errorCode: t.field({
      type: MessageErrorCodeRef,
      description: 'The reason as one of the known codes: `PROVIDER_ERROR` for one that only the network knows.',
      resolve: ({ error }) => messageErrorOf(error) ?? 'PROVIDER_ERROR',
    }),
    count: t.exposeInt('count', { description: 'The number of recipients.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      extensions: { bytes: 1024 },
      description: 'The reason of one of them in the words of the network, where it gave any.',
    }),
    messageId: t.exposeID('messageId', {
      nullable: true,
      description: 'The message of one of them; null if none has a message.',
    }),
  }),
})

builder.prismaObjectFields(CampaignRef, (t) => ({
  progress: t.field({
    type: [BucketRef],
    description:
      'What happened from its start to its end, or to now, in parts of equal length, oldest first. A recipient whose message was deleted counts with its last status only.',
    errors: ['VALIDATION_ERROR'],
    extensions: { items: mostBuckets, columns: ['id'] },
    args: { buckets: t.arg.int({ defaultValue: 60, description: 'The number of parts, 1 to 200.' }) },
    resolve: ({ id }, args, ctx) => {
      const count = parse(buckets, args.buckets ?? 60, 'buckets')
      return loadFound(ctx, `progress of campaigns ${count}`, id, [], (ids) => readProgress(ctx.app.pool, ids, count))
    },
  }),
  failures: t.field({
    type: [FailureRef],
    description: `The reasons for which recipients failed or were cancelled, with how many, the most frequent first, at most ${mostFailures}. Recipients that a user cancelled have no reason and are left out.`,
    extensions: { items: mostFailures, columns: ['id'] },
    resolve: ({ id }, _, ctx) => loadFound(ctx, 'failures of campaigns', id, [], (ids) => readFailures(ctx.app.pool, ids)),
  }),
}))
