// Proves that operators see the whole installation and retry dead jobs, that only the operator's command makes them, and that nobody else
// and no API key gets there.
import { beforeAll, describe, expect, it } from 'vitest'
import { newPerson, type Person } from '../accounts/person.ts'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

let databaseUrl: string
let gateway: OpenGateway
let chief: Person
let other: Person

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl })
  ;[chief, other] = await Promise.all([newPerson(gateway, databaseUrl), newPerson(gateway, databaseUrl, 'free')])
  const made = await command(['account', 'operator', '--email', chief.email.toUpperCase()], { databaseUrl })
  expect(made).toEqual({ code: 0, stdout: `${chief.email.toUpperCase()} is an operator\n`, stderr: '' })
})

const codeOf = ({ body }: { body: { errors?: { extensions: { code: string } }[] } }) => body.errors?.[0]?.extensions.code
const nodes = '{ operator { nodes { id alive } } }'
const retry = 'mutation ($id: ID!) { retryDeadJob(id: $id) { id queue } }'

async function read(selection: string) {
  const { body } = await chief.api.graphql(`{ operator { ${selection} } }`)
  expect(body.errors).toBeUndefined()
  return body.data.operator
}

/** A job of that queue that failed all its retries, as pg-boss leaves it in the dead letter queue. */
async function addDead(queue: string, data: object): Promise<string> {
  const { rows } = await sql(databaseUrl).query(
    `insert into pgboss.job (name, state, data, source_name, source_id, source_created_on, source_retry_count, source_output, completed_on)
     values ('job.dead', 'completed', $2, $1, gen_random_uuid(), now(), 3, '{"error": "it broke"}', now()) returning id`,
    [queue, data],
  )
  return rows[0].id
}

describe('the field operator', () => {
  it('is refused to other people, to every API key, and to an operator of before', async () => {
    expect(codeOf(await other.api.graphql(nodes))).toBe('FORBIDDEN')
    expect(codeOf(await other.api.graphql(retry, { id: chief.userId }))).toBe('FORBIDDEN')
    const key = api(gateway, chief.apiKey)
    expect(codeOf(await key.graphql(nodes))).toBe('FORBIDDEN')
    expect(codeOf(await key.graphql(retry, { id: chief.userId }))).toBe('FORBIDDEN')
    expect((await key.graphql('{ me { operator } }')).body.data.me.operator).toBe(false)
    expect((await chief.api.graphql('{ me { operator } }')).body.data.me.operator).toBe(true)
    const former = await newPerson(gateway, databaseUrl)
    await command(['account', 'operator', '--email', former.email], { databaseUrl })
    expect(codeOf(await former.api.graphql(nodes))).toBeUndefined()
    await command(['account', 'operator', '--email', former.email, '--revoke'], { databaseUrl })
    expect(codeOf(await former.api.graphql(nodes))).toBe('FORBIDDEN')
    expect(await command(['account', 'operator', '--email', 'nobody@example.com'], { databaseUrl })).toMatchObject({ code: 1 })
  })

  it('shows the processes, the relay, the streams, the mails and the migrations', async () => {
    const found = await read(
      'nodes { id roles version host pid startedAt seenAt alive openStreams } relay { waiting lagSeconds } openStreams waitingMails migrations { name applied }',
    )
    expect(found.nodes).toHaveLength(1)
    expect(found.nodes[0]).toMatchObject({
      alive: true,
      pid: process.pid,
      roles: expect.arrayContaining(['http', 'worker', 'relay']),
    })
    expect(found).toMatchObject({ openStreams: 0, waitingMails: 0, relay: { waiting: 0, lagSeconds: 0 } })
    expect(found.migrations.length).toBeGreaterThan(30)
    expect(found.migrations.every(({ applied }: { applied: boolean }) => applied)).toBe(true)
  })

  it('shows a process that died as dead, and none that stopped', async () => {
    await sql(databaseUrl).query(
      `insert into nodes (id, roles, version, host, pid, "startedAt", "seenAt")
       values (gen_random_uuid(), '{http}', '1', 'gone', 1, now() - interval '1 day', now() - interval '1 minute')`,
    )
    const second = await openGateway({ databaseUrl, env: { ROLES: 'http' } })
    const alive = async () => (await read('nodes { host alive roles }')).nodes.map((node: { alive: boolean }) => node.alive)
    expect(await alive()).toEqual([false, true, true])
    await second.stop()
    expect(await alive()).toEqual([false, true])
  })

  it('shows the accounts in pages, newest first, with their plan', async () => {
    const first = (await read('accounts(first: 1) { nodes { id email plan status operator } pageInfo { endCursor } }')).accounts
    const after = first.pageInfo.endCursor
    const rest = (await read(`accounts(first: 50, after: "${after}") { nodes { id email plan status operator emailVerified } }`))
      .accounts
    const all = [...first.nodes, ...rest.nodes]
    const { rows } = await sql(databaseUrl).query('select id from users order by "createdAt" desc, id desc')
    expect(all.map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
    expect(all.find(({ id }) => id === other.userId)).toMatchObject({
      email: other.email,
      plan: 'free',
      status: 'active',
      operator: false,
    })
    expect(all.find(({ id }) => id === chief.userId)).toMatchObject({ plan: 'max', operator: true })
  })
})

describe('the queues', () => {
  it('show what waits, what will run later, and what died', async () => {
    await sql(databaseUrl).query(
      `insert into pgboss.queue select (jsonb_populate_record(q, '{"name": "test.idle"}')).* from pgboss.queue q where name = 'webhook.deliver'`,
    )
    await sql(databaseUrl).query(
      `insert into pgboss.job (name, start_after) values ('test.idle', now() - interval '1 minute'), ('test.idle', now()), ('test.idle', now() + interval '1 hour')`,
    )
    const { queues } = await read('queues { name due later active lagSeconds oldestAt dead }')
    const found = queues.find(({ name }: { name: string }) => name === 'test.idle')
    expect(found).toMatchObject({ due: 2, later: 1, active: 0, dead: 0 })
    expect(found.lagSeconds).toBeGreaterThanOrEqual(60)
    expect(Date.parse(found.oldestAt)).toBeLessThan(Date.now() - 59_000)
    expect(queues.map(({ name }: { name: string }) => name)).toContain('webhook.deliver')
  })

  it('a dead job is shown with its reason, and retried once', async () => {
    const { rows } = await sql(databaseUrl).query(
      `insert into bulk_jobs (id, "workspaceId", operation, "contactIds", "requestedCount", summary)
       values (gen_random_uuid(), $1, 'bulk_delete_contacts', '{}', 0, '{"deleted": 0, "notFound": 0}') returning id`,
      [chief.workspaceId],
    )
    const id = await addDead('contact.bulk', { id: rows[0].id })
    await addDead('mail.send', {})
    const { deadJobs } = await read('deadJobs(queue: "contact.bulk") { id queue tries reason data failedAt }')
    expect(deadJobs).toEqual([
      { id, queue: 'contact.bulk', tries: 4, reason: 'it broke', data: { id: rows[0].id }, failedAt: expect.any(String) },
    ])
    const { queues } = await read('queues { name dead }')
    expect(queues.find(({ name }: { name: string }) => name === 'contact.bulk').dead).toBe(1)
    const answers = await Promise.all([chief.api.graphql(retry, { id }), chief.api.graphql(retry, { id })])
    expect(answers.map((answer) => codeOf(answer) ?? answer.body.data.retryDeadJob.queue).sort()).toEqual([
      'NOT_FOUND',
      'contact.bulk',
    ])
    // The job runs again: an operation on no contacts is done at once.
    await until(async () => {
      const done = await sql(databaseUrl).query(`select from bulk_jobs where id = $1 and status = 'done'`, [rows[0].id])
      return done.rowCount === 1
    })
    expect((await read('deadJobs { queue }')).deadJobs).toEqual([{ queue: 'mail.send' }])
  })
})
