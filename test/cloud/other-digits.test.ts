// A person whom Meta writes with other digits than the caller, and the 24 hours in which that person may get any message.
import { expect, it } from 'vitest'
import { until } from '../kit/until.ts'
import { connect, messageOf, openHookRig } from './hook-rig.ts'

const [typed, written] = ['5511987654321', '551187654321']
const warning = 'outside the 24-hour window: only an approved template reaches this number'

it('an answer from the digits that Meta writes opens the window for the digits that the caller writes', async () => {
  const rig = await openHookRig()
  const line = await rig.line({ addresses: new Map([[typed, written]]) })
  const other = await rig.line()
  for (const one of [line, other]) await connect(rig, one)
  const content = { to: `+${typed}`, type: 'text', text: 'hello' }
  const warningsOf = async (instanceId: string) => {
    const { status, body } = await rig.api.post('messages/send', { instanceId, ...content })
    expect(status).toBe(201)
    await until(async () => (await rig.api.get(`messages/${body.data.id}`)).body.data.providerMessageId)
    return body.data.warnings
  }
  expect(await warningsOf(line.id)).toContain(warning)
  const day = 24 * 3600
  const wrote = async (secondsAgo: number) => {
    const timestamp = String(Math.floor(Date.now() / 1000) - secondsAgo)
    await rig.tell(line, { messages: [{ ...messageOf('text', { body: 'olá' }, written), timestamp }] })
  }
  await wrote(day + 60)
  expect(await warningsOf(line.id)).toContain(warning)
  await wrote(0)
  expect(await warningsOf(line.id)).not.toContain(warning)
  expect(await warningsOf(other.id)).toContain(warning)
  const later = await rig.api.post('messages/schedule', {
    instanceId: line.id,
    ...content,
    scheduledAt: new Date(Date.now() + (day + 60) * 1000).toISOString(),
  })
  expect(later.body.data.warnings).toContain(warning)
})
