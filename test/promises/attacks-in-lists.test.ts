// Proves that long lists of invalid items are refused at once, with the position of each fault, in an answer of readable size.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../kit/api.ts'
import { promptly } from '../kit/promptly.ts'
import { expectRefusal, nobody, openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const length = 60_000
/** The time limit for each request: reading a body of half a megabyte takes a while, whatever it contains. */
const promptMs = 200
const deleting = 'mutation ($contactIds: [ID!]!) { bulkDeleteContacts(contactIds: $contactIds) { deleted } }'

function expectTold({ body }: Answer, message: RegExp): void {
  const error = body.error ?? body.errors[0]
  expect(error.code ?? error.extensions.code).toBe('VALIDATION_ERROR')
  expect(error.message).toMatch(message)
  expect(error.message.length).toBeLessThan(5_000)
}

/** The length is reported before any item is validated. */
const tooMany = /^(contactIds: must have at most 30000 items|body: must not have more than 100000 values)$/

describe.each([[''], ['x'], ['\0'], ['\ud800'], ["' or 1=1"], [5], [-1], [0.5], [null], [{}], [[]], [true]])(
  '60,000 times %j',
  (value) => {
    const list = Array(length).fill(value)

    it('is refused as contact ids, over REST', async () => {
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

    it('is refused as contact ids, over GraphQL, however often it is sent', async () => {
      // A document that is repeated is executed by another code path.
      for (let i = 0; i < 8; i++) {
        const answer = await promptly(() => rig.tenant.api.graphql(deleting, { contactIds: list }), { withinMs: promptMs })
        expectTold(answer, tooMany)
      }
    })

    it('is refused as phone numbers and as messages', async () => {
      const { api, instance } = rig.tenant
      const lookUp = () => api.post('number-lookups', { instanceId: instance.id, numbers: list })
      expectTold(
        await promptly(lookUp, { withinMs: promptMs }),
        /^(numbers: must have at most 100 items|body: must not have more than 100000 values)$/,
      )
      const bulk = () => api.post('messages/bulk', { messages: list })
      expectTold(await promptly(bulk, { withinMs: promptMs }), /^messages: must have at most 1000 items$/)
    })
  },
)

it('names each of 10,000 invalid ids, and refuses 10,001 for their count alone', async () => {
  const { api } = rig.tenant
  const wrong = Array.from({ length: 10_001 }, (_, i) => `x${i}`)
  const outcome = await api.post('contacts/bulk-delete', { contactIds: wrong.slice(1) })
  expect(outcome.body.error.message.split('; ')).toEqual(wrong.slice(1).map((_, i) => `contactIds.${i}: must be a UUID`))
  const tooMany = await api.post('contacts/bulk-delete', { contactIds: wrong })
  expectRefusal(tooMany, 400, 'VALIDATION_ERROR', 'contactIds: must have at most 10000 distinct ids')
})

it.each([
  ['contacts/bulk-delete', '{"contactIds":['],
  [`contacts/groups/${nobody}/members`, '{"contactIds":['],
  ['number-lookups', '{"numbers":['],
])('refuses lists nested 200,000 deep in %s', async (path, before) => {
  const body = `${before}${'['.repeat(200_000)}${']'.repeat(200_000)}]}`
  const answer = await promptly(() => rig.tenant.api.post(path, body), { withinMs: promptMs })
  expectTold(answer, /^body: must not be nested more than \d+ levels deep$/)
})
