// Exports of people and keys that lose their right while they read.
import http from 'node:http'
import { beforeAll, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

let databaseUrl: string
let gateway: InnerGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', PERSON_RATE_LIMIT_PER_SECOND: '100000' } })
})

/** Contacts that no buffer between the database and a client holds. */
const count = 4_000

async function addContacts(workspaceId: string): Promise<void> {
  await sql(databaseUrl).query(
    `insert into contacts (id, "workspaceId", name, "firstName", phone, custom, "updatedAt")
     select gen_random_uuid(), $1, 'Ada ' || n, 'Ada', '+49151' || 10000000 + n, jsonb_build_object('note', repeat('x', 5000)), now()
     from generate_series(1, $2::int) n`,
    [workspaceId, count],
  )
}

/** Begins an export and reads on once `meanwhile` is done. Returns if it was complete, and if contacts are missing. */
async function exportWhile(headers: Record<string, string>, meanwhile: () => Promise<unknown>) {
  const base = headers['x-api-key'] ? '/api/v1' : '/api'
  const request = http.get(new URL(`${base}/contacts/export.csv`, gateway.url), { headers, agent: false })
  const response = await new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve))
  response.pause()
  expect(response.statusCode).toBe(200)
  await meanwhile()
  let text = ''
  response.on('data', (piece) => {
    text += piece
  })
  response.on('error', () => {})
  response.resume()
  await new Promise((resolve) => response.once('close', resolve))
  return { complete: response.complete, isShort: text.split('\n').length - 2 < count }
}
const cut = { complete: false, isShort: true }

it.each(['key', 'session'] as const)('ends before the file is complete when the %s ends that reads it', async (credential) => {
  const person = await newPerson(gateway, databaseUrl)
  await addContacts(person.workspaceId)
  const { id } = (await person.api.get('/api/api-keys')).body.data[0]
  const [headers, end] =
    credential === 'key'
      ? [{ 'x-api-key': person.apiKey }, () => person.api.delete(`/api/api-keys/${id}`)]
      : [{ authorization: `Bearer ${person.token}` }, () => person.api.post('/api/auth/logout')]
  expect(await exportWhile(headers, end)).toEqual(cut)
})

it('ends before the file is complete when the reader is removed from the team', async () => {
  const [owner, member] = [await newPerson(gateway, databaseUrl), await newPerson(gateway, databaseUrl)]
  const { id } = (await owner.api.post('/api/teams', { name: 'Crew' })).body.data
  const { rows } = await sql(databaseUrl).query(
    `with m as (insert into team_members ("teamId", "userId", role) values ($1, $2, 'admin'))
     select "workspaceId" from teams where id = $1`,
    [id, member.userId],
  )
  await addContacts(rows[0].workspaceId)
  const headers = { authorization: `Bearer ${member.token}`, 'x-team-id': id }
  expect(await exportWhile(headers, () => owner.api.delete(`/api/teams/${id}/members/${member.userId}`))).toEqual(cut)
})

it('does not seem to be complete when the account ends and its contacts are deleted', async () => {
  const { apiKey, email, workspaceId } = await newPerson(gateway, databaseUrl)
  await addContacts(workspaceId)
  const end = async () => {
    expect((await command(['account', 'delete', '--email', email], { databaseUrl })).code).toBe(0)
    const workspace = () => sql(databaseUrl).query('select from workspaces where id = $1', [workspaceId])
    await until(async () => (await workspace()).rowCount === 0)
  }
  expect(await exportWhile({ 'x-api-key': apiKey }, end)).toEqual(cut)
})

it('goes on when the account is suspended, because reading stays possible', async () => {
  const { apiKey, email, workspaceId } = await newPerson(gateway, databaseUrl)
  await addContacts(workspaceId)
  const suspend = () => command(['account', 'suspend', '--email', email], { databaseUrl })
  expect(await exportWhile({ 'x-api-key': apiKey }, suspend)).toEqual({ complete: true, isShort: false })
})
