// DELETE /api/me, deleteMe and `gateway account delete`: what ends at once, and that the data goes.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { newPerson, type Person, password } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { samples, upload } from '../media/rig.ts'
import { expectRefusal, newNumber, template } from '../rest-compat/rig.ts'

let databaseUrl: string
let gateway: OpenGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', PERSON_RATE_LIMIT_PER_SECOND: '100000' } })
})

/** A person with something of everything, and sends that are under way. */
async function settled(): Promise<Person> {
  const person = await newPerson(gateway, databaseUrl)
  const { api } = person
  const instance = await connectedInstance(databaseUrl, person)
  await api.post('/api/contacts', { name: 'Ada', phone: newNumber() })
  await api.post('/api/contacts/groups', { name: 'Friends' })
  await api.post('/api/templates', template())
  await api.post('/api/webhooks', { url: 'https://example.com/', events: ['message.sent'] })
  await upload(gateway, person.apiKey, samples['image/png'] as Buffer)
  await api.put('/api/retention-settings', { messagesDays: 30 })
  await sql(databaseUrl).query(
    `insert into api_key_days ("keyId", day, requests) select id, current_date - 1, 5 from api_keys where "userId" = $1`,
    [person.userId],
  )
  const recipients = Array.from({ length: 30 }, () => ({ to: newNumber() }))
  const made = await api.post('/api/campaigns', {
    instanceId: instance.id,
    name: 'News',
    type: 'text',
    text: 'Hello',
    recipients,
  })
  expect(made.status).toBe(201)
  for (let n = 0; n < 10; n++) {
    await api.post('/api/messages/send', { instanceId: instance.id, to: newNumber(), type: 'text', text: 'Hello' })
  }
  return person
}

/** Tables that still have rows of the workspace, or of the user. */
async function traces({ workspaceId, userId }: Person): Promise<string[]> {
  const pool = sql(databaseUrl)
  const { rows } = await pool.query<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns
     where table_schema = 'public' and column_name in ('workspaceId', 'userId', 'ownerId') and table_name not like 'events%'`,
  )
  const found: string[] = []
  for (const { table, column } of rows) {
    const id = column === 'workspaceId' ? workspaceId : userId
    if ((await pool.query(`select from ${table} where "${column}" = $1 limit 1`, [id])).rowCount) found.push(`${table}.${column}`)
  }
  const events = await pool.query(`select from events where "workspaceId" = $1 and payload::text <> '{}'`, [workspaceId])
  return events.rowCount ? [...found, 'events'] : found
}

it('ends sessions, keys and teams at once, and deletes the data, amid running sends', async () => {
  const person = await settled()
  const member = await newPerson(gateway, databaseUrl)
  const team = (await person.api.post('/api/teams', { name: 'Crew' })).body.data
  const key = (await person.api.post(`/api/teams/${team.id}/api-keys`, { name: 'Bot' })).body.data.key
  expectRefusal(await person.api.delete('/api/me', {}), 400, 'VALIDATION_ERROR', 'password: is required')
  expectRefusal(await person.api.delete('/api/me', { password: 'not it, sorry' }), 401, 'INVALID_CREDENTIALS')
  const answer = await person.api.delete('/api/me', { password })
  expect([answer.status, answer.body]).toEqual([200, { data: { id: person.userId, deleted: true } }])
  expectRefusal(await person.api.get('/api/me'), 401, 'UNAUTHORIZED')
  for (const apiKey of [person.apiKey, key]) {
    expectRefusal(await member.api.get('/api/v1/instances', { authorization: '', 'x-api-key': apiKey }), 401, 'UNAUTHORIZED')
  }
  expect((await member.api.post('/api/auth/login', { email: person.email, password })).status).toBe(401)
  await until(async () => (await traces(person)).length === 0, { timeoutMs: 25_000 })
  await until(async () => (await sql(databaseUrl).query('select from users where id = $1', [person.userId])).rowCount === 0)
  expect((await member.api.get('/api/me')).status).toBe(200)
})

it('deleteMe does the same, for signed-in people only', async () => {
  const person = await newPerson(gateway, databaseUrl)
  const mutation = 'mutation ($password: String!) { deleteMe(password: $password) { id deleted } }'
  const byKey = await person.api.graphql(mutation, { password }, { authorization: '', 'x-api-key': person.apiKey })
  expect(byKey.body.errors[0].extensions.code).toBe('FORBIDDEN')
  const wrong = await person.api.graphql(mutation, { password: 'not it, sorry' })
  expect(wrong.body.errors[0].extensions.code).toBe('INVALID_CREDENTIALS')
  expect((await person.api.graphql(mutation, { password })).body.data.deleteMe).toEqual({ id: person.userId, deleted: true })
  await until(async () => (await traces(person)).length === 0, { timeoutMs: 25_000 })
})

it('leaves the teams of others, and takes its keys there along', async () => {
  const [person, owner] = [await newPerson(gateway, databaseUrl), await newPerson(gateway, databaseUrl)]
  const { id } = (await owner.api.post('/api/teams', { name: 'Crew' })).body.data
  const join = `insert into team_members ("teamId", "userId", role) values ($1, $2, 'admin')`
  await sql(databaseUrl).query(join, [id, person.userId])
  const { key } = (await person.api.post(`/api/teams/${id}/api-keys`, { name: 'Bot' })).body.data
  const headers = { authorization: '', 'x-api-key': key, 'x-team-id': id }
  expect((await owner.api.get('/api/v1/instances', headers)).status).toBe(200)
  expect((await person.api.delete('/api/me', { password })).status).toBe(200)
  expectRefusal(await owner.api.get('/api/v1/instances', headers), 401, 'UNAUTHORIZED')
  const members = (await owner.api.get(`/api/teams/${id}/members`)).body.data
  expect(members.map(({ userId }: { userId: string }) => userId)).toEqual([owner.userId])
})

it('gateway account delete asks nothing, and frees the address', async () => {
  const person = await newPerson(gateway, databaseUrl)
  const result = await command(['account', 'delete', '--email', person.email], { databaseUrl })
  expect(result).toMatchObject({ code: 0, stdout: `${person.email} is deleted\n` })
  expectRefusal(await person.api.get('/api/me'), 401, 'UNAUTHORIZED')
  expect((await command(['account', 'delete', '--email', person.email], { databaseUrl })).code).toBe(1)
  await until(async () => (await traces(person)).length === 0, { timeoutMs: 25_000 })
  const again = ['account', 'create', '--email', person.email, '--name', 'Ada', '--plan', 'free', '--json']
  expect((await command(again, { databaseUrl })).code).toBe(0)
})

it('gateway account delete ends an account whose subscription was not created yet, because a process died', async () => {
  const [userId, email] = [randomUUID(), `${randomUUID()}@example.com`]
  const person = 'insert into users (id, email, name, "emailVerified") values ($1, $2, $2, true)'
  await sql(databaseUrl).query(person, [userId, email])
  expect((await command(['account', 'delete', '--email', email], { databaseUrl })).code).toBe(0)
  await until(async () => (await sql(databaseUrl).query('select from users where id = $1', [userId])).rowCount === 0)
})
