// Proves that bodies of a hostile shape, nested too deep or with the names of prototypes, get the right answer at once.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import type { Answer } from '../kit/api.ts'
import { promptly } from '../kit/promptly.ts'
import { openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
let asleep: Tenant

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = rig.tenant
  asleep = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
})

describe('a body of a hostile shape', () => {
  it('values nested 200,000 deep are refused', async () => {
    for (const [path, before] of [
      ['messages/send', '{"text":'],
      ['instances', '{"name":"x","settings":{"a":'],
      ['messages/bulk', '{"messages":[{"variables":'],
      ['contacts', '{"name":"x","custom":{"a":'],
      ['contacts/groups', '{"name":'],
    ] as const) {
      const body =
        before +
        '['.repeat(200_000) +
        ']'.repeat(200_000) +
        before
          .replace(/[^{[]/g, '')
          .replace(/[{[]/g, (open) => (open === '{' ? '}' : ']'))
          .split('')
          .reverse()
          .join('')
      expect400(await promptly(() => asleep.api.post(path, body)), /^body: must not be nested more than \d+ levels deep$/)
    }
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'the property name %s does not pollute any prototype',
    async (name) => {
      const evil = `{"name":"x","${name}":{"polluted":1,"prototype":{"polluted":1}},"settings":{"${name}":{"polluted":1}}}`
      const answers = [
        await asleep.api.post('instances', evil),
        await asleep.api.post('messages/send', JSON.stringify(text(asleep)).replace('{', `{"${name}":{"polluted":1},`)),
        await asleep.api.get(`messages?${name}=1&${name}[polluted]=1`),
      ]
      for (const { status } of answers) expect([200, 201, 400]).toContain(status)
      expect((await asleep.api.get('me')).body.data).not.toHaveProperty('polluted')
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    },
  )
})

function expect400({ status, body }: Answer, message: RegExp): void {
  expect({ status, code: body.error?.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
  expect(body.error.message).toMatch(message)
}
