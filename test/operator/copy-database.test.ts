// `gateway copy-database` moves an installation into another database: nothing is lost, sent twice or left behind.
import { describe, expect, it } from 'vitest'
import { beginSnapshot, readTables } from '../../src/cli/copy-database.sql.ts'
import { sentenceOf } from '../../src/core/sentence.ts'
import { addPartition, readPartitions } from '../../src/events/log/partitions.sql.ts'
import { logIn, newAccount } from '../accounts/person.ts'
import { campaignTo, numbers } from '../campaigns/rig.ts'
import { openSse, type SseBlock } from '../events/sse.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { emptyDatabase } from '../kit/old-database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openPassage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import { upload } from '../media/rig.ts'
import { bringForward } from '../messages/rig.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { contentOf, ownedDatabase, structureOf } from './copy-rig.ts'

it('lets the gateway go on in the new database where it stopped in the old one', async () => {
  const [from, to] = [await cloneDatabase(), await emptyDatabase()]
  // Waiting asks often, and a stream that meets the rate limit does not begin.
  const env = { WEBHOOK_RETRY_BASE_SECONDS: '1', RATE_LIMIT_PER_SECOND: '1000' }
  const before = await openGateway({ databaseUrl: from, env })
  const account = await newAccount(from)
  const { id: instanceId } = await connectedInstance(from, account)
  const caller = api(before, account.apiKey)
  const send = async (client: typeof caller, fields: object) => {
    const sent = await client.post('messages/send', { instanceId, type: 'text', text: 'hello', ...fields })
    expect(sent.status).toBe(201)
    return sent.body.data.id as string
  }
  const receiver = await openReceiver(status(500))
  expect((await caller.post('webhooks', { url: receiver.url, events: ['message.read'] })).status).toBe(201)
  expect((await upload(before, account.apiKey, 'notes')).status).toBe(201)
  const follow = (gateway: { url: string }, cursor?: string) =>
    openSse(`${gateway.url}/api/v1/events/stream`, {
      headers: { 'x-api-key': account.apiKey, ...(cursor && { 'last-event-id': cursor }) },
    })
  const heard = await follow(before)
  await send(caller, { to: '+4915112345678' })
  await send(caller, { to: '+4915112340001' })
  const later = await caller.post('messages/schedule', {
    instanceId,
    to: '+4915112345679',
    type: 'text',
    text: 'later',
    scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
  })
  expect(later.status).toBe(201)
  expect((await caller.post('campaigns', campaignTo(instanceId, numbers(3)))).status).toBe(201)
  await until(async () => {
    const { rows } = await sql(from).query('select status::text, count(*)::int as n from messages group by 1 order by 1')
    return rows.map(({ status, n }) => `${n} ${status}`).join() === '1 failed,1 queued,4 read'
  })
  await until(() => receiver.requests.length > 0)

  const list = async (client: typeof caller) => (await client.get('messages?limit=100')).body
  const listed = await list(caller)
  const refused = await command(['copy-database', to], { databaseUrl: from })
  expect(refused).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^A gateway uses this database \(process \d+ on .*stop every process/),
  })
  await before.stop()
  receiver.answer = status(200)
  const copied = await command(['copy-database', to], { databaseUrl: from })
  expect({ code: copied.code, stdout: copied.stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^copied \d+ rows of \d+ tables, and counted them\nSet for every process:\n {2}DATABASE_URL to the URL/,
    ),
  })
  expect(copied.stderr).toMatch(/^messages: \d+ rows$/m)
  expect(await contentOf(to)).toEqual(await contentOf(from))
  const again = await command(['copy-database', to], { databaseUrl: from })
  expect(again).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The database at URL has rows already \(.*drop that database/),
  })

  const after = await openGateway({ databaseUrl: to, env })
  const moved = api(after, account.apiKey)
  expect((await logIn(after, account.email)).status).toBe(200)
  expect(await list(moved)).toEqual(listed)
  await until(
    () =>
      receiver.requests.filter(({ headers }) => headers['webhook-id'] === receiver.requests[0]?.headers['webhook-id']).length > 1,
  )
  await bringForward(to, [later.body.data.id])
  await until(async () => (await moved.get(`messages/${later.body.data.id}`)).body.data.status === 'read')
  await expectInvariants(to)
  // The reader goes on from the second event that it had, through all that happened before the copy and after it.
  const [, last] = heard.events
  const { rows: log } = await sql(to).query<{ id: string }>(
    `select id from events where type not in ('message.queued', 'campaign.changed', 'message.updated') order by seq`,
  )
  const rest = log.slice(log.findIndex(({ id }) => id === idOf(last as SseBlock)) + 1).map(({ id }) => id)
  const resumed = await follow(after, last?.id)
  expect(resumed.status).toBe(200)
  await until(() => resumed.events.length >= rest.length)
  expect(resumed.events.map(idOf)).toEqual(rest)
  expect(rest).toEqual(expect.arrayContaining(heard.events.slice(2).map(idOf)))
})

it('leaves nothing behind when it fails, so that it can run again', async () => {
  const [from, to] = [await cloneDatabase(), await ownedDatabase()]
  const account = await newAccount(from)
  await connectedInstance(from, account)
  const source = sql(from)
  // A second partition of the event log, with an event, as the relay adds one.
  const [first] = await readPartitions(source)
  await addPartition(source, first?.to as bigint, (first?.to as bigint) + 5n)
  await source.query(
    `insert into events (seq, id, "workspaceId", type, payload, "createdAt") values ($1, gen_random_uuid(), $2, 'message.sent', '{"a":null}', now())`,
    [first?.to, account.workspaceId],
  )
  await source.query('select setval($$"outbox_position_seq"$$, 77)')
  // An instance of no workspace, which the target refuses when all rows are there.
  const [key] = (
    await source.query<{ name: string; definition: string }>(
      `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
       where conrelid = 'instances'::regclass and confrelid = 'workspaces'::regclass`,
    )
  ).rows
  await source.query(`alter table instances drop constraint "${key?.name}"`)
  const { rows } = await source.query('update instances set "workspaceId" = gen_random_uuid() returning id')

  const failed = await command(['copy-database', to], { databaseUrl: from })
  expect(failed).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(`violates foreign key constraint "${key?.name}"`),
  })
  expect((await sql(to).query('select from instances')).rowCount).toBe(0)

  await source.query('update instances set "workspaceId" = $1 where id = $2', [account.workspaceId, rows[0].id])
  await source.query(`alter table instances add constraint "${key?.name}" ${key?.definition}`)
  expect(await command(['copy-database', to], { databaseUrl: from })).toMatchObject({ code: 0 })
  expect(await contentOf(to)).toEqual(await contentOf(from))
  expect(await structureOf(to)).toEqual(await structureOf(from))
})

it('names the configured database, and not the one at URL, when the configured one goes away', async () => {
  const [from, to] = [new URL(await cloneDatabase()), await emptyDatabase()]
  const way = await openPassage(Number(from.port))
  way.loseAnswer('to stdout')
  const { code, stderr } = await command(['copy-database', to], { databaseUrl: Object.assign(from, { port: way.port }).href })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/The database of DATABASE_URL cannot be used \(Connection terminated/),
  ])
})

it('a process that starts meanwhile says that the database is locked, and ends', async () => {
  const from = await cloneDatabase()
  const copy = await sql(from).connect()
  await beginSnapshot(copy, await readTables(copy))
  const start = openGateway({ databaseUrl: from })
  expect(sentenceOf(await start.catch((error: unknown) => error))).toMatch(
    /^Another session keeps tables of the database locked, as `gateway copy-database` does .*; start again when it has ended$/,
  )
  await copy.query('rollback')
  copy.release()
})

describe('refuses, and changes nothing, when', () => {
  const refusal = async (url: string, databaseUrl: string) => {
    const { code, stdout, stderr } = await command(['copy-database', url], { databaseUrl })
    expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([1, '', 1])
    return stderr
  }

  it('the target has tables of something else', async () => {
    const [from, to] = [await cloneDatabase(), await emptyDatabase()]
    await sql(to).query('create table invoices (id int)')
    expect(await refusal(to, from)).toMatch(/^The database at URL has other tables or views \(invoices\); name one/)
    expect((await sql(to).query(`select from pg_tables where schemaname in ('public', 'pgboss')`)).rowCount).toBe(1)
  })

  it('the source has no gateway yet', async () => {
    const [from, to] = [await emptyDatabase(), await emptyDatabase()]
    expect(await refusal(to, from)).toBe('The configured database has no gateway yet, so there is nothing to copy\n')
    for (const url of [from, to])
      expect((await sql(url).query(`select from pg_tables where schemaname in ('public', 'pgboss')`)).rowCount).toBe(0)
  })

  it('the target is the source, or does not answer, or is no address', async () => {
    const from = await cloneDatabase()
    expect(await refusal(from, from)).toMatch(/^URL leads to the database that is copied/)
    const nowhere = await refusal('postgres://u:word@127.0.0.1:1/x', from)
    expect(nowhere).toBe('The database at 127.0.0.1:1 does not answer (ECONNREFUSED); check URL and that the database runs\n')
    expect(await refusal('mysql://h/x', from)).toMatch(/^URL: must be a valid address that begins with postgres:/)
  })

  it('a gateway uses the source, however many processes have died in the last hour', async () => {
    const [from, to] = [await cloneDatabase(), await emptyDatabase()]
    await sql(from).query(
      `insert into nodes (id, roles, version, host, pid, "startedAt", "seenAt")
       select gen_random_uuid(), '{worker}', '1', case i when 0 then 'alive' else 'dead' end, i,
         now() - i * interval '10 seconds', case i when 0 then now() else now() - interval '5 minutes' end from generate_series(0, 250) i`,
    )
    expect(await refusal(to, from)).toMatch(/^A gateway uses this database \(process 0 on alive\)/)
  })

  it('a newer version has migrated the source', async () => {
    const [from, to] = [await cloneDatabase(), await emptyDatabase()]
    const add = `insert into _prisma_migrations (id, checksum, migration_name) values ('x', 'x', '9999_later')`
    await sql(from).query(add)
    expect(await refusal(to, from)).toMatch(/^A newer version of the gateway has migrated this database \(9999_later\)/)
  })
})

const idOf = ({ data }: SseBlock): string => JSON.parse(data as string).id
