// An operator suspends an account: its subscription counts as inactive until it resumes; signing in and reading stay possible.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { logIn, newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { newNumber } from '../rest-compat/rig.ts'

const { url, databaseUrl } = commons()
const run = (...args: string[]) => command(args, { databaseUrl })

it('refuses creating and sending, keeps reading and signing in, and gives the same status back', async () => {
  const person = await newPerson({ url }, databaseUrl, 'pro')
  const instance = await connectedInstance(databaseUrl, person)
  const key = api({ url }, person.apiKey)
  const team = (await person.api.post('/api/teams', { name: 'Crew' })).body.data.id
  const text = () => ({ instanceId: instance.id, to: newNumber(), type: 'text', text: 'Hello' })
  expect((await run('account', 'suspend', '--email', person.email)).code).toBe(0)
  expect((await run('account', 'suspend', '--email', person.email)).code).toBe(0)
  const refused = [await key.post('messages/send', text()), await person.api.post('/api/instances', { name: 'Phone' })]
  expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual(Array(2).fill([403, 'SUBSCRIPTION_INACTIVE']))
  const graph = await key.graphql('mutation { createInstance(input: { name: "Phone" }) { id } }')
  expect(graph.body.errors[0].extensions.code).toBe('SUBSCRIPTION_INACTIVE')
  expect([(await key.get('instances')).status, (await person.api.get('/api/api-keys')).status]).toEqual([200, 200])
  expect((await logIn({ url }, person.email)).status).toBe(200)
  expect((await key.get('billing/subscription')).body.data.status).toBe('inactive')
  const standing = async () =>
    (await person.api.graphql(`{ subscription { status suspended } team(id: "${team}") { active } }`)).body.data
  expect(await standing()).toEqual({ subscription: { status: 'inactive', suspended: true }, team: { active: false } })
  // A change of the plan does not end the suspension.
  expect((await run('account', 'plan', '--email', person.email, '--plan', 'max')).code).toBe(0)
  expect((await key.post('messages/send', text())).body.error.code).toBe('SUBSCRIPTION_INACTIVE')
  expect((await run('account', 'resume', '--email', person.email)).code).toBe(0)
  expect((await key.post('messages/send', text())).status).toBe(201)
  expect(await standing()).toEqual({ subscription: { status: 'active', suspended: false }, team: { active: true } })
  const { rows } = await sql(databaseUrl).query('select plan, status, "suspendedFrom" from subscriptions where "userId" = $1', [
    person.userId,
  ])
  expect(rows).toEqual([{ plan: 'max', status: 'active', suspendedFrom: null }])
  expect((await run('account', 'resume', '--email', person.email)).code).not.toBe(0)
  expect((await run('account', 'suspend', '--email', 'nobody@example.com')).code).not.toBe(0)
})

it('suspends an account whose subscription was not created yet, because a process died', async () => {
  const [userId, email] = [randomUUID(), `${randomUUID()}@example.com`]
  const person = 'insert into users (id, email, name, "emailVerified") values ($1, $2, $2, true)'
  await sql(databaseUrl).query(person, [userId, email])
  expect((await run('account', 'suspend', '--email', email)).code).toBe(0)
  const { rows } = await sql(databaseUrl).query('select status, "suspendedFrom" from subscriptions where "userId" = $1', [userId])
  expect(rows).toEqual([{ status: 'inactive', suspendedFrom: 'active' }])
})
