// When a plan falls, the newest instances, endpoints and keys beyond it rest within 15 s, and work again when the plan allows it.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/accounts/keys/api-keys.ts'
import { setPlan } from '../../src/billing/service.ts'
import { createTeam } from '../../src/teams/service.ts'
import { newPerson, type Person } from '../accounts/person.ts'
import { type Api, api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { prisma, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { newNumber } from '../rest-compat/rig.ts'

const { url, databaseUrl, dataDir } = commons()
const within = { timeoutMs: 15_000 }

interface Thing {
  id: string
  key?: string
}

let owner: Person
let team: Api
/** Has two instances that were never connected, and falls too. */
let idle: Person
const instances: Thing[] = []
const endpoints: Thing[] = []
const keys: Thing[] = []

const mails = () =>
  readdirSync(path.join(dataDir, 'mail'))
    .map((name) => readFileSync(path.join(dataDir, 'mail', name), 'utf8'))
    .filter((text) => text.startsWith(`To: ${owner.email}\n`))
const fall = (plan: 'free' | 'pro' | 'max') => setPlan(prisma(databaseUrl), { email: owner.email, plan })
const stateOf = async ({ id }: Thing) => {
  const answers = await Promise.all([owner.api, team].map((client) => client.get(`/api/instances/${id}/state`)))
  const { status, lastError } = answers.find((answer) => answer.status === 200)?.body.data ?? {}
  return `${status} ${lastError}`
}
const reasonOf = async ({ id }: Thing) => {
  const query = `{ webhook(id: "${id}") { disabledReason } }`
  const answers = await Promise.all([owner.api, team].map((client) => client.graphql(query)))
  return answers.flatMap(({ body }) => body.data?.webhook ?? [])[0]?.disabledReason
}
const codeOf = async ({ key }: Thing) => {
  const { rows } = await sql(databaseUrl).query('select "teamId" from api_keys where prefix = $1', [key?.slice(0, 16)])
  const headers: Record<string, string> = rows[0]?.teamId ? { 'x-team-id': rows[0].teamId } : {}
  const client = api({ url }, key, headers)
  const [rest, graph] = [await client.get('instances'), await client.graphql('{ instances { id } }')]
  const codes = [rest.body.error?.code ?? null, graph.body.errors?.[0].extensions.code ?? null]
  expect(codes[1]).toBe(codes[0])
  return codes[0]
}

beforeAll(async () => {
  owner = await newPerson({ url }, databaseUrl, 'max')
  const { teamId } = await createTeam(prisma(databaseUrl), { ownerEmail: owner.email, name: 'Team' })
  team = owner.inTeam(teamId)
  keys.push({ id: '', key: owner.apiKey })
  // Made in turns, so that both workspaces have old and new ones.
  for (const [i, client] of [owner.api, team, owner.api].entries()) {
    const instance = await client.post('/api/instances', { name: `Phone ${i}` })
    instances.push(instance.body.data)
    await client.post(`/api/instances/${instance.body.data.id}/connect`, {})
    const where = client === team ? `/api/teams/${teamId}/api-keys` : '/api/api-keys'
    keys.push((await owner.api.post(where, { name: `Robot ${i}` })).body.data)
  }
  for (let i = 0; i < 5; i++) {
    const endpoint = { url: `http://127.0.0.1:9/${i}`, events: ['message.sent'] }
    endpoints.push((await (i % 2 ? team : owner.api).post('/api/webhooks', endpoint)).body.data)
  }
  for (const one of instances) await until(async () => (await stateOf(one)) === 'connected null')
  idle = await newPerson({ url }, databaseUrl, 'pro')
  for (const name of ['First', 'Second']) await idle.api.post('/api/instances', { name })
  await setPlan(prisma(databaseUrl), { email: idle.email, plan: 'free' })
  // A plan without teams falls only after they are gone, except by Stripe or by an operator's hand on the row.
  await sql(databaseUrl).query(`update subscriptions set plan = 'free', "fellAt" = now() where "userId" = $1`, [owner.userId])
  await until(async () => (await stateOf(instances[2] as Thing)) === "disconnected over the plan's limit", within)
})

describe('a plan that fell', () => {
  it('disconnects the newest instances, and keeps the oldest as they are', async () => {
    expect(await Promise.all(instances.map(stateOf))).toEqual([
      'connected null',
      "disconnected over the plan's limit",
      "disconnected over the plan's limit",
    ])
    for (const client of [team, owner.api]) {
      const [resting] = client === team ? [instances[1]] : [instances[2]]
      const rest = await client.post(`/api/instances/${resting?.id}/connect`, {})
      expect([rest.status, rest.body.error.code]).toEqual([403, 'MAX_INSTANCES_REACHED'])
      const graph = await client.graphql(`mutation { connectInstance(id: "${resting?.id}") { status } }`)
      expect(graph.body.errors[0].extensions.code).toBe('MAX_INSTANCES_REACHED')
    }
  })

  it('disables the newest endpoints with that reason, and refuses to enable them', async () => {
    expect(await Promise.all(endpoints.map(reasonOf))).toEqual([null, null, null, 'over_the_plan', 'over_the_plan'])
    const rest = await owner.api.put(`/api/webhooks/${endpoints[4]?.id}`, { enabled: true })
    expect([rest.status, rest.body.error.code]).toEqual([403, 'MAX_WEBHOOK_ENDPOINTS_REACHED'])
  })

  it('refuses to enable what was disabled for another reason, while as many work as the plan allows', async () => {
    const [oldest] = endpoints
    await owner.api.put(`/api/webhooks/${oldest?.id}`, { enabled: false })
    // The fourth rests, and takes the free place only when the plan is looked at again.
    await sql(databaseUrl).query(`update webhook_endpoints set "disabledAt" = null, "disabledReason" = null where id = $1`, [
      endpoints[3]?.id,
    ])
    const enabled = await owner.api.put(`/api/webhooks/${oldest?.id}`, { enabled: true })
    expect([enabled.status, enabled.body.error?.code]).toEqual([403, 'MAX_WEBHOOK_ENDPOINTS_REACHED'])
    const renamed = await owner.api.put(`/api/webhooks/${oldest?.id}`, { url: 'http://127.0.0.1:9/other' })
    expect([renamed.status, await reasonOf(oldest as Thing)]).toEqual([200, 'by_hand'])
    await sql(databaseUrl).query(
      `update webhook_endpoints set "disabledAt" = now(), "disabledReason" = 'over_the_plan' where id = $1`,
      [endpoints[3]?.id],
    )
    expect((await owner.api.put(`/api/webhooks/${oldest?.id}`, { enabled: true })).status).toBe(200)
  })

  it('refuses the newest keys', async () => {
    const over = 'MAX_API_KEYS_REACHED'
    expect(await Promise.all(keys.map(codeOf))).toEqual([null, over, over, over])
  })

  it('sends one mail, which names what rests', async () => {
    const [mail] = await until(() => mails().length > 0 && mails())
    for (const name of ['"Phone 1"', '"Phone 2"', '127.0.0.1:9/3', '127.0.0.1:9/4', '"Robot 0"', '"Robot 1"', '"Robot 2"'])
      expect(mail).toContain(name)
    for (const name of ['"Phone 0"', '127.0.0.1:9/2']) expect(mail).not.toContain(name)
  })

  it('lets messages of resting instances wait, and resumes as many instances as the plan allows, the oldest first', async () => {
    const text = { instanceId: instances[1]?.id, to: newNumber(), type: 'text', text: 'Hello' }
    const { id } = (await team.post('/api/messages/send', text)).body.data
    await owner.api.delete(`/api/instances/${instances[0]?.id}`)
    await until(async () => (await stateOf(instances[1] as Thing)) === 'connected null', within)
    await until(async () => ['sent', 'delivered', 'read'].includes((await team.get(`/api/messages/${id}`)).body.data.status))
    expect(await stateOf(instances[2] as Thing)).toBe("disconnected over the plan's limit")
    expect(mails()).toHaveLength(1)
  })

  it('resumes everything when the plan rises', async () => {
    const idleStates = async () =>
      (await idle.api.get('/api/instances')).body.data.map(({ status }: { status: string }) => status).sort()
    expect(await idleStates()).toEqual(['created', 'disconnected'])
    await setPlan(prisma(databaseUrl), { email: idle.email, plan: 'pro' })
    await fall('max')
    await until(async () => (await stateOf(instances[2] as Thing)) === 'connected null', within)
    expect(await Promise.all(endpoints.map(reasonOf))).toEqual([null, null, null, null, null])
    expect(await Promise.all(keys.map(codeOf))).toEqual([null, null, null, null])
    expect(mails()).toHaveLength(1)
    await until(async () => (await idleStates()).join() === 'created,created', within)
  })
})

it('rests nothing that an operator gave beyond the plan, before it falls; a change by the operator is a fall', async () => {
  const person = await newPerson({ url }, databaseUrl, 'pro')
  const second = (await person.api.post('/api/api-keys', { name: 'Second' })).body.data
  await setPlan(prisma(databaseUrl), { email: person.email, plan: 'free' })
  await until(async () => (await codeOf(second)) === 'MAX_API_KEYS_REACHED', within)
  const given = await newPerson({ url }, databaseUrl, 'free')
  const { key } = await createApiKey(prisma(databaseUrl), { email: given.email, name: 'Given' })
  await setPlan(prisma(databaseUrl), { email: given.email, plan: 'free' })
  const { rows } = await sql(databaseUrl).query('select "fellAt", rests from subscriptions where "userId" = $1', [given.userId])
  expect([rows, await codeOf({ id: '', key })]).toEqual([[{ fellAt: null, rests: false }], null])
})
