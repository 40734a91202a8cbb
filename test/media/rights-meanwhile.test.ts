// Uploads of people and keys that lose their right while the file arrives, which takes minutes on a slow connection.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { newPerson, type Person } from '../accounts/person.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { rawForm, samples } from './rig.ts'

let databaseUrl: string
let gateway: InnerGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', PERSON_RATE_LIMIT_PER_SECOND: '100000' } })
})

const files = {
  media: (samples['image/png'] as Buffer).toString('latin1'),
  'contacts/import': 'name,phone\nAda,+4915112345678\n',
  'suppressions/import': '+4915112345678\n',
}
const routes = Object.keys(files) as (keyof typeof files)[]

function beingReceived(): string[] {
  return readdirSync(path.join(gateway.app.config.dataDir, 'media', 'incoming'))
}

/** Uploads a file of which the last byte arrives once `meanwhile` is done. Returns the status and the error code. */
async function upload(route: keyof typeof files, headers: Record<string, string>, meanwhile: () => Promise<unknown>) {
  const form = rawForm(files[route], 'form-data; name="file"; filename="a"')
  const bytes = Buffer.from(form.body, 'latin1')
  async function* body(): AsyncGenerator<Buffer> {
    yield bytes.subarray(0, -1)
    await until(() => beingReceived().length > 0)
    await meanwhile()
    yield bytes.subarray(-1)
  }
  const base = headers['x-api-key'] ? '/api/v1' : '/api'
  const init = { method: 'POST', body: body(), headers: { ...form.headers, ...headers }, duplex: 'half' }
  const response = await fetch(new URL(`${base}/${route}`, gateway.url), init as unknown as RequestInit)
  const answer = (await response.json()) as { error?: { code: string } }
  return [response.status, answer.error?.code]
}

/** The rows that uploads leave in a workspace. */
async function rowsOf(workspaceId: string): Promise<unknown> {
  const tables = ['media', 'bulk_jobs', 'contacts', 'suppressions']
  const counts = tables.map((table) => `(select count(*)::int from ${table} where "workspaceId" = $1)`)
  return (await sql(databaseUrl).query(`select ${counts.join(' + ')} as rows`, [workspaceId])).rows[0].rows
}

async function operator(...args: string[]): Promise<void> {
  expect((await command(args, { databaseUrl })).code).toBe(0)
}

async function teamOf({ api }: Person): Promise<{ id: string; workspaceId: string }> {
  const { id } = (await api.post('/api/teams', { name: 'Crew' })).body.data
  return (await sql(databaseUrl).query('select id, "workspaceId" from teams where id = $1', [id])).rows[0]
}

it.each(routes)('POST %s of an account that ends is refused as by an unknown key, also when its data is gone', async (route) => {
  const { apiKey, email, workspaceId } = await newPerson(gateway, databaseUrl)
  const answer = await upload(route, { 'x-api-key': apiKey }, async () => {
    await operator('account', 'delete', '--email', email)
    const ofWorkspace = () => sql(databaseUrl).query('select from workspaces where id = $1', [workspaceId])
    await until(async () => (await ofWorkspace()).rowCount === 0)
  })
  expect(answer).toEqual([401, 'UNAUTHORIZED'])
})

it.each(routes)('POST %s of an account that is suspended creates nothing', async (route) => {
  const { apiKey, email, workspaceId } = await newPerson(gateway, databaseUrl)
  const answer = await upload(route, { 'x-api-key': apiKey }, () => operator('account', 'suspend', '--email', email))
  expect([answer, await rowsOf(workspaceId)]).toEqual([[403, 'SUBSCRIPTION_INACTIVE'], 0])
})

it.each(routes)('POST %s to a team that is deleted stores nothing in it', async (route) => {
  const owner = await newPerson(gateway, databaseUrl)
  const { id, workspaceId } = await teamOf(owner)
  const headers = { authorization: `Bearer ${owner.token}`, 'x-team-id': id }
  const answer = await upload(route, headers, () => owner.api.delete(`/api/teams/${id}`))
  expect([answer, await rowsOf(workspaceId)]).toEqual([[404, 'TEAM_NOT_FOUND'], 0])
})

it.each(routes)('POST %s of a member who is removed stores nothing in the team', async (route) => {
  const [owner, member] = [await newPerson(gateway, databaseUrl), await newPerson(gateway, databaseUrl)]
  const { id, workspaceId } = await teamOf(owner)
  const join = `insert into team_members ("teamId", "userId", role) values ($1, $2, 'admin')`
  await sql(databaseUrl).query(join, [id, member.userId])
  const headers = { authorization: `Bearer ${member.token}`, 'x-team-id': id }
  const answer = await upload(route, headers, () => owner.api.delete(`/api/teams/${id}/members/${member.userId}`))
  expect([answer, await rowsOf(workspaceId)]).toEqual([[404, 'TEAM_NOT_FOUND'], 0])
})

it.each(routes)('POST %s of a person whose session ends stores nothing', async (route) => {
  const { api, token, workspaceId } = await newPerson(gateway, databaseUrl)
  const answer = await upload(route, { authorization: `Bearer ${token}` }, () => api.post('/api/auth/logout'))
  expect([answer, await rowsOf(workspaceId)]).toEqual([[401, 'UNAUTHORIZED'], 0])
})
