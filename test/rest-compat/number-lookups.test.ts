// Number lookups over REST and GraphQL: answers, validation and idempotency.
import { beforeAll, describe, expect, it } from 'vitest'
import { createTeam } from '../../src/teams/service.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, moment, newTenant, nobody, openRig, type Rig } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const here = '+4915112345678'
const gone = '+4915112340001'

function ask(fields: Record<string, unknown> = {}, headers?: Record<string, string>) {
  const { api, instance } = rig.tenant
  return api.post('number-lookups', { instanceId: instance.id, numbers: [here], ...fields }, headers)
}

const document = 'mutation ($input: LookupNumbersInput!) { result: lookupNumbers(input: $input) { phone exists checkedAt } }'

describe('a lookup', () => {
  it('reports for each number, in the order given, whether it is on the network', async () => {
    const { status, body } = await ask({ numbers: [gone, here, gone], more: 1 })
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: {
        data: [
          { phone: gone, exists: false, checkedAt: moment },
          { phone: here, exists: true, checkedAt: moment },
          { phone: gone, exists: false, checkedAt: moment },
        ],
      },
    })
  })

  it('is also a GraphQL mutation', async () => {
    const input = { instanceId: rig.tenant.instance.id, numbers: [here, gone] }
    const { body } = await rig.tenant.api.graphql(document, { input })
    expect(body.data.result).toEqual([
      { phone: here, exists: true, checkedAt: moment },
      { phone: gone, exists: false, checkedAt: moment },
    ])
  })

  it('accepts 100 numbers', async () => {
    const numbers = Array.from({ length: 100 }, (_, i) => `+49151123${45_000 + i}`)
    expect((await ask({ numbers })).body.data.map(({ phone }: { phone: string }) => phone)).toEqual(numbers)
  })

  it.each<[name: string, fields: Record<string, unknown>, message: string]>([
    ['nothing', { instanceId: undefined, numbers: undefined }, 'instanceId: is required; numbers: is required'],
    ['no number', { numbers: [] }, 'numbers: must have at least 1 item'],
    ['101 numbers', { numbers: Array(101).fill(here) }, 'numbers: must have at most 100 items'],
    ['one that is no list', { numbers: here }, 'numbers: must be an array'],
    [
      'wrong numbers among good ones',
      { numbers: [here, '015112345678', here, '+49 151 12345678'] },
      'numbers.1: must be an E.164 number, for example +393331234567; numbers.3: must be an E.164 number, for example +393331234567',
    ],
    ['what is no text', { numbers: [here, null, 5] }, 'numbers.1: must not be null; numbers.2: must be a string'],
    ['NUL', { numbers: [`${here}\0`] }, 'numbers.0: must be an E.164 number, for example +393331234567'],
    ['an id that is none', { instanceId: '5' }, 'instanceId: must be a UUID'],
  ])('is refused with %s, with the same message over REST and GraphQL', async (_, fields, message) => {
    expectRefusal(await ask(fields), 400, 'VALIDATION_ERROR', message)
    const input = JSON.parse(JSON.stringify({ instanceId: rig.tenant.instance.id, numbers: [here], ...fields }))
    if (fields.numbers === here) return
    const { body } = await rig.tenant.api.graphql(document, { input })
    expect(body.errors[0]).toMatchObject({ message, extensions: { code: 'VALIDATION_ERROR' } })
  })

  it('is refused alike for a missing instance and one of another account', async () => {
    const [foreign, missing] = [await ask({ instanceId: rig.stranger.instance.id }), await ask({ instanceId: nobody })]
    expectRefusal(foreign, 404, 'NOT_FOUND', 'Instance not found')
    expect(foreign.body).toEqual(missing.body)
  })

  it.each(['created', 'disconnected'] as const)('is refused through an instance that is %s', async (status) => {
    const { id } = await connectedInstance(rig.databaseUrl, rig.tenant.account, { status })
    const outcome = `The instance is ${status}; connect it to look up numbers`
    expectRefusal(await ask({ instanceId: id }), 409, 'INVALID_STATE', outcome)
  })

  it('tells null through an instance whose connection no process holds', async () => {
    const { id } = await connectedInstance(rig.databaseUrl, rig.tenant.account)
    await sql(rig.databaseUrl).query(`update instances set provider = 'web' where id = $1`, [id])
    const { data } = (await ask({ instanceId: id })).body
    expect(data.map(({ exists }: { exists: boolean | null }) => exists)).toEqual([null])
  })

  it('gets the same refusal again under its Idempotency-Key, also when the instance has been connected meanwhile', async () => {
    const { api } = rig.tenant
    const { id } = (await api.post('instances', { name: 'Later' })).body.data
    const ask = () => api.post('number-lookups', { instanceId: id, numbers: [here] }, { 'idempotency-key': 'too early' })
    expectRefusal(await ask(), 409, 'INVALID_STATE')
    await api.post(`instances/${id}/connect`, {})
    await until(async () => (await api.get(`instances/${id}/state`)).body.data.status === 'connected')
    const again = await ask()
    expectRefusal(again, 409, 'INVALID_STATE')
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })

  it('gets the same answer again under its Idempotency-Key, and under the key in the GraphQL input', async () => {
    const headers = { 'idempotency-key': 'look' }
    const [first, second] = [await ask({}, headers), await ask({}, headers)]
    expect([second.body, second.headers.get('idempotency-replayed')]).toEqual([first.body, 'true'])
    expectRefusal(await ask({ numbers: [gone] }, headers), 422, 'IDEMPOTENCY_KEY_REUSED')
    const input = { instanceId: rig.tenant.instance.id, numbers: [here], idempotencyKey: 'look again' }
    const results = [await rig.tenant.api.graphql(document, { input }), await rig.tenant.api.graphql(document, { input })]
    expect(results[1]?.body.data).toEqual(results[0]?.body.data)
  })

  it('works with a team key, for instances of that team only', async () => {
    const owner = await newTenant(rig.gateway, rig.databaseUrl)
    const team = await createTeam(prisma(rig.databaseUrl), { ownerEmail: owner.account.email, name: 'Team' })
    const ours = api(rig.gateway, team.apiKey, { 'x-team-id': team.teamId })
    const { id } = await connectedInstance(rig.databaseUrl, { userId: owner.account.userId, workspaceId: team.workspaceId })
    expect((await ours.post('number-lookups', { instanceId: id, numbers: [gone] })).body.data).toMatchObject([{ exists: false }])
    expectRefusal(await ours.post('number-lookups', { instanceId: owner.instance.id, numbers: [gone] }), 404, 'NOT_FOUND')
  })
})
