// Changing an instance of the Cloud API: a new token after the old one was refused, the verify token, and the identity.
import { beforeAll, expect, it } from 'vitest'
import { until } from '../kit/until.ts'
import { openRig, type Rig } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const put = (id: string, settings: Record<string, unknown>) => rig.api.put(`instances/${id}`, { settings })

it('a new token connects an instance whose token was refused', async () => {
  const { id, number } = await rig.phone()
  rig.standIn.addFault({ on: /messages/, effect: { code: 190, status: 401 } })
  await rig.settled(await rig.send(id, { text: 'Hello' }), 'failed')
  expect(await rig.state(id)).toMatchObject({ status: 'disconnected', lastError: expect.stringContaining('190') })
  number.accessToken = 'EAAnew'
  expect((await put(id, { accessToken: 'EAAnew' })).body.data.status).toBe('connecting')
  await until(async () => (await rig.state(id)).status === 'connected')
  const sent = await rig.settled(await rig.send(id, { text: 'Hello again' }))
  expect(sent).toMatchObject({ error: null, attempts: 1 })
})

it.each([
  [463, 'the access token has expired (190)'],
  [467, 'the access token was refused (190)'],
])(
  'a token that Meta refuses with the subcode %i disconnects with the words "%s", and a connect with it is enough once Meta takes it',
  async (subcode, words) => {
    const { id, number } = await rig.phone()
    rig.standIn.addFault({ on: new RegExp(`${number.id}/messages`), effect: { code: 190, subcode, status: 401 } })
    const failed = await rig.settled(await rig.send(id, { text: 'Hello' }), 'failed')
    expect([failed.error, failed.errorDetail]).toEqual(['AUTH_INVALID', words])
    expect(await rig.state(id)).toEqual({ status: 'disconnected', lastError: words })
    const { accessToken } = number
    expect((await put(id, { accessToken })).body.data.status).toBe('disconnected')
    expect(await rig.connect(id)).toEqual({ status: 'connected', lastError: null })
  },
)

it('the verify token is made anew by null, and the rest of the secrets is never shown', async () => {
  const { id, number } = await rig.phone({ pin: '123456' })
  const query = 'query ($id: ID!) { instance(id: $id) { settings verifyToken callbackUrl } }'
  const shown = async () => (await rig.api.graphql(query, { id })).body.data.instance
  const { phoneNumberId, businessAccountId } = rig.standIn.settingsOf(number)
  const before = await shown()
  expect(before).toMatchObject({ settings: { phoneNumberId, businessAccountId }, verifyToken: expect.stringMatching(/^.{32}$/) })
  expect((await put(id, { verifyToken: 'mine', pin: null })).status).toBe(200)
  expect((await shown()).verifyToken).toBe('mine')
  await put(id, { verifyToken: null })
  const { verifyToken } = await shown()
  expect(verifyToken).toMatch(/^.{32}$/)
  expect(verifyToken).not.toBe(before.verifyToken)
  expect(JSON.stringify(await shown())).not.toMatch(new RegExp(`${number.accessToken}|${number.appSecret}|123456`))
})

it('after a logout takes other settings with a new token, and waits for a new connect', async () => {
  const { id, number } = await rig.phone()
  await rig.api.post(`instances/${id}/logout`)
  const refused = await put(id, { verifyToken: 'mine' })
  expect([refused.status, refused.body.error.message]).toEqual([400, 'settings.accessToken: is required'])
  const { status, body } = await put(id, { verifyToken: 'mine', accessToken: number.accessToken })
  expect([status, body.data.status]).toEqual([200, 'logged_out'])
  expect(await rig.connect(id)).toMatchObject({ status: 'connected' })
})

it.each<[settings: Record<string, unknown>, message: string]>([
  [{ phoneNumberId: '5' }, 'settings.phoneNumberId: cannot be changed'],
  [{ phoneNumberId: null }, 'settings.phoneNumberId: cannot be changed; settings.phoneNumberId: is required'],
  [{ appSecret: null }, 'settings.appSecret: is required'],
  [{ pin: '12', colour: 'red' }, 'settings.pin: must be six digits; settings.colour: is unknown'],
])('refuses %j', async (settings, message) => {
  const id = await rig.create(rig.standIn.addNumber())
  const { status, body } = await put(id, settings)
  expect([status, body.error]).toEqual([400, { code: 'VALIDATION_ERROR', message }])
})

it.each<[settings: Record<string, unknown>, message: string]>([
  [{ accessToken: undefined }, 'settings.accessToken: is required'],
  [{ appSecret: undefined, phoneNumberId: undefined }, 'settings.phoneNumberId: is required; settings.appSecret: is required'],
  [{ businessAccountId: 'a/b' }, 'settings.businessAccountId: must be the id that Meta shows, digits only'],
  [{ accessToken: 'two words' }, 'settings.accessToken: must be printable ASCII without spaces'],
  [{ pin: 123456 }, 'settings.pin: must be a string'],
  [{ token: 'x' }, 'settings.token: is unknown'],
])('is not created with %j', async (wrong, message) => {
  const settings = { ...rig.standIn.settingsOf(rig.standIn.addNumber()), ...wrong }
  const { status, body } = await rig.api.post('instances', { name: 'Shop', provider: 'cloud', settings })
  expect([status, body.error]).toEqual([400, { code: 'VALIDATION_ERROR', message }])
})

it('takes its present number, and another business account', async () => {
  const number = rig.standIn.addNumber()
  const id = await rig.create(number)
  expect((await put(id, { phoneNumberId: number.id, businessAccountId: '77' })).status).toBe(200)
})
