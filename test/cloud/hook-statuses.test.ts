// Statuses of Meta's webhook: the order of a message's statuses holds, whatever order and number they come in, and whatever they overtake.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { connect, type HookRig, type Line, messageOf, openHookRig, person } from './hook-rig.ts'
import type { Taken } from './stand-in.ts'
import { statusOf } from './stand-in-hooks.ts'

let rig: HookRig
let line: Line

beforeAll(async () => {
  rig = await openHookRig()
  line = await rig.line()
  await connect(rig, line)
})

async function row(id: string) {
  const { rows } = await sql(rig.databaseUrl).query('select * from messages where id = $1', [id])
  return rows[0]
}

/** Sends a message that Meta accepts. */
async function sent(from = line): Promise<{ id: string; taken: Taken }> {
  const message = { instanceId: from.id, to: `+${person()}`, type: 'text', text: 'hello' }
  const { status, body } = await rig.api.post('messages/send', message)
  expect(status).toBe(201)
  const { id } = body.data
  const taken = await until(() => rig.standIn.messages.find((each) => each.biz_opaque_callback_data === id))
  await until(async () => (await row(id)).acceptedAt)
  return { id, taken }
}

async function stepsOf(id: string): Promise<string[]> {
  const { body } = await rig.api.graphql('query ($id: ID!) { message(id: $id) { timeline { status } } }', { id })
  return body.data.message.timeline.map(({ status }: { status: string }) => status)
}

/** The statuses of a message as Meta tells them by its id alone. */
const unnamed = (taken: Taken, status: string, more = {}) =>
  statusOf(taken, status, { biz_opaque_callback_data: undefined, ...more })

it('a wrong signature is logged for its instance, once a minute at most', async () => {
  const { id, number } = await rig.line()
  const wrong = { id, number: { ...number, appSecret: 'of-another-app' } }
  const posts = [await rig.tell(wrong, {}), await rig.tell(wrong, {}), await rig.tell({ id, number }, {})]
  expect(posts).toEqual([401, 401, 200])
  const told = rig.gateway.logs.filter((line) => line.includes(id)).map((line) => JSON.parse(line).msg)
  expect(told).toEqual(['a post to the webhook of an instance was refused: it is not signed with its appSecret'])
})

describe('statuses', () => {
  it('raise a message once, doubled and in any order, and never lower it', async () => {
    await rig.counted()
    const { id, taken } = await sent()
    const posts = ['delivered', 'sent', 'delivered', 'read', 'sent', 'played', 'failed']
    for (const status of posts) expect(await rig.tell(line, { statuses: [statusOf(taken, status)] })).toBe(200)
    expect(await row(id)).toMatchObject({ status: 'read', error: null, providerMessageId: taken.wamid })
    expect(await stepsOf(id)).toEqual(['queued', 'sending', 'sent', 'delivered', 'read'])
    expect(await rig.counted()).toEqual({ applied: 2, duplicate: 5 })
  })

  it('come many in a post, found by our id or by that of the network', async () => {
    const [first, second] = [await sent(), await sent()]
    const statuses = [unnamed(first.taken, 'played'), statusOf(second.taken, 'read'), unnamed(second.taken, 'sent')]
    expect(await rig.tell(line, { statuses })).toBe(200)
    for (const { id } of [first, second]) expect(await stepsOf(id)).toEqual(['queued', 'sending', 'sent', 'delivered', 'read'])
  })

  it('that say that a message failed are final, and give the reason in our word and in the words of Meta', async () => {
    const { id, taken } = await sent()
    const errors = [{ code: 131047, title: 'Re-engagement message', error_data: { details: 'More than 24 hours have passed' } }]
    await rig.tell(line, { statuses: [unnamed(taken, 'failed', { errors })] })
    const failed = { status: 'failed', error: 'OUTSIDE_WINDOW', errorDetail: 'More than 24 hours have passed (131047)' }
    expect(await row(id)).toMatchObject(failed)
    for (const status of ['delivered', 'read', 'failed']) await rig.tell(line, { statuses: [statusOf(taken, status)] })
    expect(await row(id)).toMatchObject(failed)
    expect(await stepsOf(id)).toEqual(['queued', 'sending', 'failed'])
  })

  it('that give no code for a failure still have their reason shortened', async () => {
    const { id, taken } = await sent()
    await rig.tell(line, { statuses: [statusOf(taken, 'failed', { errors: [{ title: 'x'.repeat(2_000) }] })] })
    expect(await row(id)).toMatchObject({ status: 'failed', error: 'PROVIDER_ERROR', errorDetail: 'x'.repeat(500) })
  })

  it('count beside one whose reason holds a character that cannot be stored, which counts without it', async () => {
    const own = await rig.line()
    await connect(rig, own)
    const [failed, reached] = [await sent(own), await sent(own)]
    const errors = [{ code: 131026, title: 'Not\0 there' }]
    const early = unnamed({ ...failed.taken, wamid: 'wamid.unknown' }, 'failed', { errors })
    const statuses = [early, statusOf(failed.taken, 'failed', { errors }), statusOf(reached.taken, 'delivered')]
    expect(await rig.tell(own, { statuses })).toBe(200)
    expect(await row(failed.id)).toMatchObject({ error: 'RECIPIENT_NOT_FOUND', errorDetail: 'Not there (131026)' })
    expect(await row(reached.id)).toMatchObject({ status: 'delivered' })
  })

  it('report a restriction of the account once, with the failure that told it', async () => {
    const limited = await rig.line()
    await connect(rig, limited)
    const { id, taken } = await sent(limited)
    const read = `select "restrictedAt" as at, "lastError" from instances where id = $1`
    const standing = async () => (await sql(rig.databaseUrl).query(read, [limited.id])).rows[0]
    expect(await standing()).toEqual({ at: null, lastError: null })
    const statuses = [statusOf(taken, 'failed', { errors: [{ code: 131031, title: 'Account locked' }] })]
    await rig.tell(limited, { statuses })
    expect(await row(id)).toMatchObject({ status: 'failed', error: 'ACCOUNT_RESTRICTED' })
    const told = await standing()
    expect(told).toEqual({ at: expect.any(Date), lastError: 'Account locked (131031)' })
    await rig.tell(limited, { statuses })
    expect(await standing()).toEqual(told)
  })

  it('with our id of a message of another instance say nothing about that message', async () => {
    const other = await rig.line()
    const { id, taken } = await sent()
    await rig.counted()
    await rig.tell(other, { statuses: [statusOf(taken, 'read'), statusOf({ ...taken, wamid: 'wamid.none' }, 'read')] })
    expect(await row(id)).toMatchObject({ status: 'sending' })
    expect(await rig.counted()).toEqual({ unknown_message: 2 })
    await rig.tell(line, { statuses: [statusOf({ ...taken, biz_opaque_callback_data: other.id }, 'delivered')] })
    expect(await row(id)).toMatchObject({ status: 'delivered' })
  })
})

it('a look-up knows what statuses and messages told, and nothing else, because Meta has none', async () => {
  const [reached, missed, silent] = [await sent(), await sent(), await sent()]
  const errors = [{ code: 131026, title: 'Undeliverable' }]
  const statuses = [statusOf(reached.taken, 'delivered'), statusOf(missed.taken, 'failed', { errors })]
  const from = person()
  await rig.tell(line, { statuses, messages: [messageOf('text', { body: 'hello' }, from)] })
  const numbers = [...[reached, missed, silent].map(({ taken }) => `+${taken.to}`), `+${from}`, `+${person()}`]
  const { status, body } = await rig.api.post('number-lookups', { instanceId: line.id, numbers })
  expect([status, body.data.map(({ exists }: { exists: unknown }) => exists)]).toEqual([200, [true, false, null, true, null]])
})

describe('a status that overtakes the answer to the send', () => {
  async function overtaken(tell: (taken: Taken) => Promise<unknown>): Promise<string> {
    rig.standIn.onMessage = async (taken) => {
      rig.standIn.onMessage = undefined
      await tell(taken)
    }
    return (await sent()).id
  }

  it('counts at once, if it has our id', async () => {
    await rig.counted()
    const id = await overtaken((taken) => rig.tell(line, { statuses: [statusOf(taken, 'delivered')] }))
    expect(await stepsOf(id)).toEqual(['queued', 'sending', 'sent', 'delivered'])
    expect(await rig.counted()).toEqual({ applied: 1 })
  })

  it('is kept, if it has only the id of the network, and counts once the message has that id', async () => {
    await rig.counted()
    const id = await overtaken((taken) =>
      rig.tell(line, { statuses: [unnamed(taken, 'delivered'), unnamed(taken, 'sent'), unnamed(taken, 'sent')] }),
    )
    expect(await rig.counted()).toEqual({ unknown_message: 3 })
    await until(async () => (await row(id)).status === 'delivered')
    expect(await stepsOf(id)).toEqual(['queued', 'sending', 'sent', 'delivered'])
    const pool = sql(rig.databaseUrl)
    await until(async () => (await pool.query('select from early_receipts where "instanceId" = $1', [line.id])).rowCount === 0)
  })

  it('is given up two minutes later, if no message ever has its id', async () => {
    const taken = { wamid: 'wamid.elsewhere', to: '+1', biz_opaque_callback_data: undefined as never }
    const pool = sql(rig.databaseUrl)
    const kept = async () =>
      (await pool.query('select "keptAt", "nextAt" from early_receipts where "providerMessageId" = $1', [taken.wamid])).rows[0]
    await rig.tell(line, { statuses: [statusOf(taken, 'sent')] })
    const first = await kept()
    expect(first.nextAt - first.keptAt).toBeLessThanOrEqual(2_000)
    const later = await until(async () => {
      const now = await kept()
      return now.nextAt > first.nextAt && now
    })
    expect(later.nextAt - later.keptAt).toBeLessThan(120_000)
    await pool.query(
      `update early_receipts set "keptAt" = now() - interval '121 seconds', "nextAt" = now() where "providerMessageId" = $1`,
      [taken.wamid],
    )
    await pool.query(`update pgboss.job set start_after = now() where name = 'receipts.early' and state < 'active'`)
    await until(async () => (await kept()) === undefined)
  })
})
