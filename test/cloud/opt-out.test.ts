// A person whom Meta writes with other digits than the caller opts out of both numbers, and of no other person's.
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { connect, messageOf, openHookRig, person } from './hook-rig.ts'

it.each([
  ['5511987654321', '551187654321', true],
  // The sender's own number is none that anybody may send to.
  ['525512345678', '5215512345678', false],
])(
  'STOP from the digits that Meta answered takes the number of the messages off too, and START puts both back: %s, %s',
  async (typed, written, isSendable) => {
    const rig = await openHookRig()
    const other = person()
    const line = await rig.line({ addresses: new Map([[typed, written]]) })
    await connect(rig, line)
    const send = (digits: string) =>
      rig.api.post('messages/send', { instanceId: line.id, to: `+${digits}`, type: 'text', text: 'hello' })
    for (const digits of [typed, other]) {
      const { id } = (await send(digits)).body.data
      const accepted = 'select from messages where id = $1 and "acceptedAt" is not null'
      await until(async () => (await sql(rig.databaseUrl).query(accepted, [id])).rowCount)
    }
    const say = async (body: string) =>
      expect(await rig.tell(line, { messages: [messageOf('text', { body }, written)] })).toBe(200)
    await say('STOP')
    const { body } = await rig.api.get('suppressions')
    const listed = body.data.suppressions.map(({ phone, reason }: { phone: string; reason: string }) => [phone, reason])
    const expected = [...(isSendable ? [written] : []), typed].map((digits) => [`+${digits}`, 'keyword'])
    expect(listed.toSorted()).toEqual(expected)
    const refused = await send(typed)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'RECIPIENT_SUPPRESSED'])
    expect((await send(other)).status).toBe(201)
    await say('START')
    expect((await send(typed)).status).toBe(201)
  },
)
