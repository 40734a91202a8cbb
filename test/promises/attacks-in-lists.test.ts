// Lists that are long and wrong: each is refused at once, by the place of what is wrong, in an answer that somebody can read.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, promptly } from '../kit/kit.ts'
import { expectRefusal, nobody, openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const length = 60_000
/** A body of half a megabyte takes a while to read, whatever it says. */
const promptMs = 200
const deleting = 'mutation ($contactIds: [ID!]!) { bulkDeleteContacts(contactIds: $contactIds) { deleted } }'

function expectTold({ body }: Answer, message: RegExp): void {
  const error = body.error ?? body.errors[0]
  expect(error.code ?? error.extensions.code).toBe('VALIDATION_ERROR')
  expect(error.message).toMatch(message)
  expect(error.message.length).toBeLessThan(5_000)
}

/** The length is told before any item is looked at. */
const tooMany = /^(contactIds: must have at most 30000 items|body: must not hold more than 100000 values)$/

describe.each([[''], ['x'], ['\0'], ['\ud800'], ["' or 1=1"], [5], [-1], [0.5], [null], [{}], [[]], [true]])(
  '60,000 times %j',
  (value) => {
    const list = Array(length).fill(value)

    it('are no contacts, by REST', async () => {
      const { api } = rig.tenant
      for (const ask of [
        () => api.post('contacts/bulk-delete', { contactIds: list }),
        () => api.post(`contacts/groups/${nobody}/members`, { contactIds: list }),
        () => api.delete(`contacts/groups/${nobody}/members`, { contactIds: list }),
      ]) {
        const answer = await promptly(ask, { withinMs: promptMs })
        expect(answer.status).toBe(400)
        expectTold(answer, tooMany)
      }
    })

    it('are no contacts, by the graph, however often it is asked', async () => {
      // A document that comes again and again is run in another way.
      for (let i = 0; i < 8; i++) {
        const answer = await promptly(() => rig.tenant.api.graphql(deleting, { contactIds: list }), { withinMs: promptMs })
        expectTold(answer, tooMany)
      }
    })

    it('are no numbers and no messages', async () => {
      const { api, instance } = rig.tenant
      const lookUp = () => api.post('number-lookups', { instanceId: instance.id, numbers: list })
      expectTold(
        await promptly(lookUp, { withinMs: promptMs }),
        /^(numbers: must have at most 100 items|body: must not hold more than 100000 values)$/,
      )
      const bulk = () => api.post('messages/bulk', { messages: list })
      expectTold(await promptly(bulk, { withinMs: promptMs }), /^messages: must have at most 1000 items$/)
    })
  },
)

it('names each of 10,000 that is wrong, and none of 10,001', async () => {
  const { api } = rig.tenant
  const wrong = Array.from({ length: 10_001 }, (_, i) => `x${i}`)
  const told = await api.post('contacts/bulk-delete', { contactIds: wrong.slice(1) })
  expect(told.body.error.message.split('; ')).toEqual(wrong.slice(1).map((_, i) => `contactIds.${i}: must be a UUID`))
  const tooMany = await api.post('contacts/bulk-delete', { contactIds: wrong })
  expectRefusal(tooMany, 400, 'VALIDATION_ERROR', 'contactIds: must have at most 10000 different ids')
})

it.each([
  ['contacts/bulk-delete', '{"contactIds":['],
  [`contacts/groups/${nobody}/members`, '{"contactIds":['],
  ['number-lookups', '{"numbers":['],
])('lists of lists, 200,000 deep, are refused by %s', async (path, before) => {
  const body = `${before}${'['.repeat(200_000)}${']'.repeat(200_000)}]}`
  const answer = await promptly(() => rig.tenant.api.post(path, body), { withinMs: promptMs })
  expectTold(answer, /^body: must not be nested more than \d+ deep$/)
})
