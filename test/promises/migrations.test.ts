// Proves that the migrations create exactly the database that prisma/schema describes, except for the manual changes named
// here.
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hashPassword } from '../../src/accounts/sign-in/password.ts'
import { scriptOfModels } from '../../src/cli/draft-migration.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { sql } from '../kit/database.ts'
import { databaseBefore, emptyDatabase } from '../kit/old-database.ts'

/** The additions (+) and removals (-) of the hand-written migrations, compared with the models. */
const byHand = [
  '- constraint events_instanceId_fkey',
  '- constraint events_messageId_fkey',
  '- constraint webhook_deliveries_eventSeq_fkey',
  '+ column contacts.searchText',
  '+ index bulk_jobs_open_idx',
  '+ index contacts_searchText_idx',
  '+ index instances_cloud_number_idx',
  '+ index media_unfinished_idx',
  '+ index messages_campaign_idx',
  '+ index messages_campaign_status_idx',
  '+ index messages_contact_idx',
  '+ index messages_failed_idx',
  '+ index messages_held_rank_idx',
  '+ index messages_media_idx',
  '+ index messages_open_idx',
  '+ index messages_received_idx',
  '+ index messages_received_to_idx',
  '+ index messages_reference_idx',
  '+ index messages_scheduled_idx',
  '+ index messages_unreported_idx',
  '+ index subscriptions_ending_idx',
  '+ index subscriptions_fit_idx',
  '+ index webhook_deliveries_failed_idx',
  '+ index webhook_deliveries_open_idx',
  '+ index webhook_endpoints_kept_idx',
  '+ trigger events_kept',
  '+ trigger media_added',
  '+ trigger media_removed',
  '- table events p r',
  '+ table events p p',
  '- table rate_windows p r',
  '+ table rate_windows u r',
]

/** Everything that Postgres records about the structure of a database, one line for each object, without the partitions of tables. */
const shape = `
  with own as (
    select oid, relname, relpersistence, relkind from pg_class where relnamespace = 'public'::regnamespace and not relispartition
      and relkind in ('r', 'p') and relname <> '_prisma_migrations'
  )
  select 'table ' || relname || ' ' || relpersistence::text || ' ' || relkind::text as name, '' as definition from own
  union all
  select 'column ' || table_name || '.' || column_name,
      concat_ws(' ', udt_name, character_maximum_length, numeric_precision, datetime_precision, is_nullable, column_default, is_identity)
    from information_schema.columns join own on relname = table_name where table_schema = 'public'
  union all
  select 'constraint ' || conname, conrelid::regclass || ' ' || pg_get_constraintdef(c.oid) from pg_constraint c
    join own on own.oid = conrelid where contype <> 'n'
  union all
  select 'index ' || indexname, replace(indexdef, ' ONLY ', ' ') from pg_indexes join own on relname = tablename where schemaname = 'public'
  union all
  select 'trigger ' || tgname, pg_get_triggerdef(t.oid) from pg_trigger t join own on own.oid = tgrelid where not tgisinternal
  union all
  select 'enum ' || typname, string_agg(enumlabel, ' ' order by enumsortorder) from pg_enum join pg_type t on t.oid = enumtypid group by typname`

async function shapeOf(databaseUrl: string): Promise<Map<string, string>> {
  const { rows } = await sql(databaseUrl).query<{ name: string; definition: string }>(shape)
  return new Map(rows.map(({ name, definition }) => [name, definition]))
}

describe('the migrations', () => {
  it('create the database that the models describe, plus the manual changes', async () => {
    const [made, meant] = [await emptyDatabase(), await emptyDatabase()]
    await migrate(made)
    await sql(meant).query(await scriptOfModels(meant))
    const [has, wants] = [await shapeOf(made), await shapeOf(meant)]
    const differences = [
      ...[...has].filter(([name]) => !wants.has(name)).map(([name]) => `+ ${name}`),
      ...[...wants].filter(([name]) => !has.has(name)).map(([name]) => `- ${name}`),
      ...[...wants]
        .filter(([name, is]) => has.has(name) && has.get(name) !== is)
        .map(([name, is]) => `~ ${name}: ${has.get(name)} | ${is}`),
    ]
    expect(differences.sort()).toEqual([...byHand].sort())
    expect(wants.size).toBeGreaterThan(200)
  })

  it('continue on a server without the extension that speeds up searches', async () => {
    const url = await emptyDatabase()
    await sql(url).query(`alter database ${new URL(url).pathname.slice(1)} set extension_control_path = '/nowhere'`)
    await migrate(url)
    const { rows } = await sql(url).query(
      `select to_regclass('"contacts_searchText_idx"') as index, to_regclass('contacts_tags_idx') as other,
         (select count(*)::int from pg_extension where extname = 'pg_trgm') as extensions`,
    )
    expect(rows[0]).toEqual({ index: null, other: 'contacts_tags_idx', extensions: 0 })
  })
})

it('a migration records the last cursor that was issued before cursors were sealed', async () => {
  const { url, scripts } = await databaseBefore('"sealedAfter"')
  await sql(url).query('update event_sequence set last = 12')
  for (const script of scripts) await sql(url).query(script)
  const { rows } = await sql(url).query(
    `select "sealedAfter", "sealedAt" > now() - interval '1 minute' as "isNow" from event_sequence`,
  )
  expect(rows).toEqual([{ sealedAfter: '12', isNow: true }])
})

it('a migration keeps the passwords of accounts that predate other ways to sign in', async () => {
  const { url, scripts } = await databaseBefore('INSERT INTO "auth_accounts"')
  const [id, hash] = [randomUUID(), await hashPassword('as it was before')]
  const insert = 'insert into users (id, email, name, "passwordHash") values ($1, $2, $3, $4)'
  await sql(url).query(insert, [id, 'old@example.com', 'Old', hash])
  await sql(url).query(insert, [randomUUID(), 'none@example.com', 'None', null])
  for (const script of scripts) await sql(url).query(script)
  const { rows } = await sql(url).query('select "userId", "providerId", "accountId", password from auth_accounts')
  expect(rows).toEqual([{ userId: id, providerId: 'credential', accountId: id, password: hash }])
})

it('a migration records the workspace owner as creator and approver of earlier webhook endpoints', async () => {
  const { url, scripts } = await databaseBefore('"createdById"')
  const [ownerId, workspaceId, id] = [randomUUID(), randomUUID(), randomUUID()]
  await sql(url).query('insert into users (id, email, name) values ($1, $2, $3)', [ownerId, 'owner@example.com', 'Owner'])
  await sql(url).query('insert into workspaces (id, "ownerId") values ($1, $2)', [workspaceId, ownerId])
  await sql(url).query(
    `insert into webhook_endpoints (id, "workspaceId", url, events, secret) values ($1, $2, 'https://hooks.example/', '{}', '')`,
    [id, workspaceId],
  )
  for (const script of scripts) await sql(url).query(script)
  const { rows } = await sql(url).query('select id, "createdById", "approvedById" from webhook_endpoints')
  expect(rows).toEqual([{ id, createdById: ownerId, approvedById: ownerId }])
})
