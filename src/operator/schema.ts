// GraphQL field `operator`: the whole installation, for accounts that the operator's command chose. No API key reaches it.
import { countMails } from '../accounts/mail/order.ts'
import { isOperator, pageOfAccounts, type ShownAccount } from '../accounts/operator.ts'
import type { Context } from '../core/context.ts'
import { migrationsOf, type NamedMigration } from '../core/database/migrate.ts'
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { connectionOf } from '../core/graph/connection.ts'
import { retryDead } from '../core/jobs/dead-jobs.ts'
import { type DeadJob, mostDead, type QueueFigures, readDead, readQueues } from '../core/jobs/queues.sql.ts'
import { parse, uuid } from '../core/validation.ts'
import { type OutboxLag, readOutboxLag } from '../events/log/lag.sql.ts'
import type { NodeRow } from './nodes.sql.ts'
import { listNodes } from './nodes.ts'

/** @throws FORBIDDEN when the caller uses an API key, or is no operator. */
async function requireOperator({ app, principal }: Context): Promise<void> {
  if (principal.kind !== 'console' || !(await isOperator(app.db, principal.userId)))
    fail('FORBIDDEN', 'This is for operators of the installation')
}

const NodeRef = builder.objectRef<NodeRow>('OperatorNode').implement({
  description: 'A process of the installation.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, new with each start.' }),
    roles: t.exposeStringList('roles', { extensions: { items: 3 }, description: 'Its roles: `http`, `worker`, `relay`.' }),
    version: t.exposeString('version', { description: 'The version of the gateway.' }),
    host: t.exposeString('host', { description: 'The name of its machine.' }),
    pid: t.exposeInt('pid', { description: 'Its number on that machine.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it started.' }),
    seenAt: t.expose('seenAt', { type: 'DateTime', description: 'When it last said that it lives, every 15 seconds.' }),
    alive: t.exposeBoolean('alive', {
      description: 'True if it did so in the last 45 seconds. A dead one is shown for an hour.',
    }),
    openStreams: t.exposeInt('openStreams', { description: 'Its live subscriptions at that time.' }),
  }),
})

const QueueRef = builder.objectRef<QueueFigures>('OperatorQueue').implement({
  description: 'A queue of background jobs.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, `<domain>.<verb>`.' }),
    due: t.exposeInt('due', { description: 'Jobs that could run now.' }),
    later: t.exposeInt('later', { description: 'Jobs whose time has not come.' }),
    active: t.exposeInt('active', { description: 'Jobs that run.' }),
    lagSeconds: t.exposeFloat('lagSeconds', {
      description: 'For how long the oldest due job has been due, in seconds; 0 without one.',
    }),
    oldestAt: t.expose('oldestAt', { type: 'DateTime', nullable: true, description: 'Since when that one has been due.' }),
    dead: t.exposeInt('dead', { description: 'Jobs of the last 14 days that failed permanently and were not retried.' }),
  }),
})

const DeadJobRef = builder.objectRef<DeadJob>('OperatorDeadJob').implement({
  description: 'A job that failed permanently.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, for `retryDeadJob`.' }),
    queue: t.exposeString('queue', { description: 'The queue that it was in.' }),
    tries: t.exposeInt('tries', { description: 'How often it was tried.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why the last try failed.' }),
    data: t.expose('data', {
      type: 'JSON',
      nullable: true,
      extensions: { bytes: 2 * 1024 },
      description: 'Its data: ids, never contents.',
    }),
    failedAt: t.expose('failedAt', { type: 'DateTime', description: 'When it failed permanently.' }),
  }),
})

const RelayRef = builder.objectRef<OutboxLag>('OperatorRelay').implement({
  description: 'Events that are committed and not in the log yet.',
  fields: (t) => ({
    waiting: t.exposeInt('waiting', { description: 'Their number, counted up to 10,000.' }),
    lagSeconds: t.exposeFloat('lagSeconds', { description: 'The age of the oldest, in seconds; 0 without one.' }),
  }),
})

const MigrationRef = builder.objectRef<NamedMigration>('OperatorMigration').implement({
  description: 'A change of the structure of the database.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, which begins with its number.' }),
    applied: t.exposeBoolean('applied', { description: 'True if it was applied to this database.' }),
  }),
})

const AccountRef = builder.objectRef<ShownAccount>('OperatorAccount').implement({
  description: 'An account of the installation.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The user's id." }),
    email: t.exposeString('email', { description: 'The e-mail address.' }),
    name: t.exposeString('name', { description: 'The name.' }),
    emailVerified: t.exposeBoolean('emailVerified', { description: 'True if the address is verified.' }),
    operator: t.exposeBoolean('operator', { description: 'True if it is an operator.' }),
    plan: t.exposeString('plan', { nullable: true, description: 'The code of its plan; null before its first sign-in.' }),
    status: t.exposeString('status', {
      nullable: true,
      description: 'The status of its subscription; null before its first sign-in.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
})

const { connection: AccountConnection } = connectionOf(AccountRef)

const OperatorRef = builder.objectRef<object>('Operator').implement({
  description: 'The whole installation.',
  fields: (t) => ({
    nodes: t.field({
      type: [NodeRef],
      extensions: { items: 20, most: 200 },
      description: 'Its processes, oldest first.',
      resolve: (_, __, { app }) => listNodes(app),
    }),
    queues: t.field({
      type: [QueueRef],
      extensions: { items: 50 },
      description: 'The queues of background jobs, by name.',
      resolve: (_, __, { app }) => readQueues(app.pool),
    }),
    deadJobs: t.field({
      type: [DeadJobRef],
      extensions: { items: mostDead },
      description: `The last ${mostDead} jobs of the last 14 days that failed permanently and were not retried, newest first.`,
      args: { queue: t.arg.string({ description: 'Only jobs of this queue.' }) },
      resolve: (_, { queue }, { app }) => readDead(app.pool, queue ?? null),
    }),
    relay: t.field({
      type: RelayRef,
      description: 'Events on their way to the log.',
      resolve: (_, __, { app }) => readOutboxLag(app.pool),
    }),
    openStreams: t.int({
      description: 'The live subscriptions of all processes that are alive.',
      resolve: async (_, __, { app }) =>
        (await listNodes(app)).reduce((sum, node) => sum + (node.alive ? node.openStreams : 0), 0),
    }),
    waitingMails: t.int({ description: 'Mails that are not sent yet.', resolve: (_, __, { app }) => countMails(app.db) }),
    migrations: t.field({
      type: [MigrationRef],
      extensions: { items: 100 },
      description: 'The migrations of this version, oldest first.',
      resolve: (_, __, { app }) => migrationsOf(app.pool),
    }),
    accounts: t.connection(
      {
        type: AccountRef,
        extensions: { page: 20 },
        description: 'The accounts, newest first.',
        resolve: (_, args, { app }) => pageOfAccounts(app.db, args),
      },
      AccountConnection,
    ),
  }),
})

const RetriedRef = builder.objectRef<{ id: string; queue: string }>('RetriedJob').implement({
  description: 'A job that was put back into its queue.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id that it had among the dead jobs.' }),
    queue: t.exposeString('queue', { description: 'Its queue.' }),
  }),
})

builder.queryField('operator', (t) =>
  t.field({
    type: OperatorRef,
    description: 'The whole installation, for signed-in users whom `gateway account operator` made operators.',
    errors: [{ FORBIDDEN: 'for everybody else, and for API keys' }],
    authScopes: { person: true },
    resolve: async (_, __, ctx) => {
      await requireOperator(ctx)
      return {}
    },
  }),
)

builder.mutationField('retryDeadJob', (t) =>
  t.field({
    type: RetriedRef,
    description:
      'Puts a job that failed permanently back into its queue, as a new job. It does nothing if its record has ended meanwhile.',
    errors: ['NOT_FOUND', { FORBIDDEN: 'for everybody but operators' }],
    authScopes: { person: true },
    args: { id: t.arg.id({ required: true, description: 'The dead job.' }) },
    resolve: async (_, args, ctx) => {
      await requireOperator(ctx)
      return (await retryDead(ctx.app, parse(uuid, args.id, 'id'))) ?? fail('NOT_FOUND', 'Dead job not found')
    },
  }),
)
