// API keys in GraphQL: the keys of the signed-in person.
import { z } from 'zod'
import { AuthorRef, authorOf } from '../core/graph/author.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { defineInput, idempotencyKey, registerEnum } from '../core/graph/input.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { nameOf, parse, uuid } from '../core/validation.ts'
import { KeyAccess } from '../generated/prisma/enums.ts'
import { type ApiKeyRow, type IssuedApiKey, listApiKeys, originOfKey } from './keys/api-keys.ts'
import { daysOfKey } from './keys/key-days.ts'
import type { KeyDay } from './keys/key-use.sql.ts'
import { createOwnApiKey, revokeOwnApiKey } from './keys/own-keys.ts'

const KeyAccessRef = builder.enumType('KeyAccess', {
  description:
    '`full` allows everything. `send` allows to send, schedule, cancel, upload and look up numbers, and to read messages, instances and templates. `read` allows every query, download and stream, and to preview templates.',
  values: Object.values(KeyAccess),
})
registerEnum('KeyAccess', KeyAccessRef)

const mostDays = 90
const usualDays = 30

const ApiKeyDayRef = builder.objectRef<KeyDay>('ApiKeyDay').implement({
  description: 'The requests of an API key on one day.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The day in UTC, as YYYY-MM-DD.' }),
    requests: t.exposeInt('requests', { description: 'Requests that counted towards the quota.' }),
  }),
})

export const ApiKeyRef = builder.objectRef<ApiKeyRow>('ApiKey').implement({
  description: 'A credential of a program.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its purpose.' }),
    prefix: t.exposeString('prefix', { description: 'The first characters of the key.' }),
    access: t.expose('access', { type: KeyAccessRef, description: 'Its access.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, shown within five seconds; null if it was never used.',
    }),
    days: t.field({
      type: [ApiKeyDayRef],
      description:
        'Its requests of the last days in UTC, today included, oldest first; days without any are zeros. Shown within five seconds; a crash loses those of its last three seconds.',
      errors: ['VALIDATION_ERROR'],
      extensions: { items: mostDays },
      args: { last: t.arg.int({ defaultValue: usualDays, description: 'The number of days, 1 to 90.' }) },
      resolve: ({ id }, { last }, ctx) => daysOfKey(ctx, id, parse(z.int().min(1).max(mostDays), last ?? usualDays, 'last')),
    }),
    createdBy: t.field({
      type: AuthorRef,
      nullable: true,
      description: 'The user who created it.',
      resolve: async (key, _, ctx) => authorOf(ctx, (await originOfKey(ctx, key.id))?.userId ?? null),
    }),
    revokedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null for an active key.',
      resolve: async (key, _, ctx) => (await originOfKey(ctx, key.id))?.revokedAt ?? null,
    }),
  }),
})

export const IssuedApiKeyRef = builder.objectRef<IssuedApiKey>('IssuedApiKey').implement({
  description: 'A new API key with its secret.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its purpose.' }),
    prefix: t.exposeString('prefix', { description: 'The first characters of the key.' }),
    key: t.exposeString('key', { description: 'The whole key. Only this response contains it.' }),
    access: t.expose('access', { type: KeyAccessRef, description: 'Its access.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'Always null: a new key is unused.' }),
  }),
})

export const CreateApiKeyInput = defineInput(
  'CreateApiKeyInput',
  'A new API key.',
  z.object({
    name: nameOf(100).describe('Its purpose, 1 to 100 characters.'),
    access: z.enum(KeyAccess).meta({ id: 'KeyAccess' }).nullish().describe('Its access; `full` by default.'),
    idempotencyKey,
  }),
)

builder.queryFields((t) => ({
  apiKeys: t.field({
    type: [ApiKeyRef],
    extensions: { items: 20 },
    description: 'The active API keys of your own workspace, oldest first. For signed-in users.',
    authScopes: { person: true },
    resolve: (_, __, { app, principal }) => listApiKeys(app.db, principal.userId),
  }),
}))

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: IssuedApiKeyRef,
    description: 'Creates an API key for your own workspace.',
    errors: ['MAX_API_KEYS_REACHED', 'SUBSCRIPTION_INACTIVE', 'FORBIDDEN'],
    authScopes: { $all: { person: true, active: true } },
    args: { input: t.arg({ type: CreateApiKeyInput.ref, required: true, description: 'The new key.' }) },
    resolve: (_, { input }, ctx) => {
      const once = keyed(ctx, 'createApiKey', input)
      const { name, access } = CreateApiKeyInput.parse(ctx.app.config, input)
      return createOwnApiKey(once, { name, access: access ?? 'full' })
    },
  }),
  revokeApiKey: t.field({
    type: DeletedRef,
    description: 'Revokes an API key. It is refused from the next request on.',
    errors: ['NOT_FOUND', 'FORBIDDEN'],
    authScopes: { person: true },
    args: { id: t.arg.id({ required: true, description: 'The key.' }) },
    resolve: (_, { id }, ctx) => revokeOwnApiKey(ctx, parse(uuid, id, 'id')),
  }),
}))
