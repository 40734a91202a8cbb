// A gateway that is killed around a call to Meta: no message leaves twice, and connecting goes on in the next process.
import { expect, it } from 'vitest'
import { api, cloneDatabase, createAccount, type Gateway, sql, startGateway, until } from '../kit/kit.ts'
import { fresh, type Rig, rigOf } from './rig.ts'
import { openStandIn, type StandIn } from './stand-in.ts'

interface Stage {
  rig: Rig
  standIn: StandIn
  databaseUrl: string
  start: (env?: Record<string, string>) => Promise<Gateway>
}

async function openStage(): Promise<Stage> {
  const [databaseUrl, standIn] = await Promise.all([cloneDatabase(), openStandIn()])
  const account = await createAccount(databaseUrl)
  const start = (env: Record<string, string> = {}) =>
    startGateway({ databaseUrl, env: { CLOUD_API_URL: standIn.url, CLOUD_RECONCILE_SECONDS: '1', ...env } })
  const first = await start()
  return { rig: rigOf(databaseUrl, standIn, first, account), standIn, databaseUrl, start }
}

it('sends no message twice, wherever its process dies between the call and the commit', async () => {
  const { rig, standIn, databaseUrl, start } = await openStage()
  const phone = await rig.phone()
  await rig.gateway.stop()
  const ids: string[] = []
  for (const failpoint of ['send.after_claim', 'send.before_provider', 'send.after_provider_accept', 'send.before_commit']) {
    const doomed = await start({ FAILPOINT: `${failpoint}=kill` })
    // The process may die before it answers.
    await api(doomed, rig.account.apiKey)
      .post('messages/send', { instanceId: phone.id, to: fresh(), type: 'text', text: failpoint })
      .catch(() => {})
    expect((await doomed.exited).signal).toBe('SIGKILL')
    const { rows } = await sql(databaseUrl).query('select id from messages where body = $1', [failpoint])
    ids.push(rows[0].id)
  }
  await start()
  const ends = await Promise.all(ids.map((id) => rig.settled(id)))
  const sent = ids.map((id) => standIn.messages.filter((message) => message.biz_opaque_callback_data === id).length)
  expect(sent).toEqual([0, 0, 1, 1])
  // A message that was claimed may have left, for all that the next process knows.
  expect(ends.map(({ error }) => error)).toEqual(Array(4).fill('UNKNOWN_OUTCOME'))
})

it('goes on connecting in another process after a kill', async () => {
  const { rig, standIn, start } = await openStage()
  const number = standIn.addNumber()
  const id = await rig.create(number)
  standIn.addFault({ on: new RegExp(`GET ${number.id}$`), effect: 'hang' })
  await rig.api.post(`instances/${id}/connect`)
  await until(() => standIn.hanging() === 1)
  ;(rig.gateway as unknown as Gateway).kill('SIGKILL')
  await start()
  await until(async () => (await rig.state(id)).status === 'connected', { timeoutMs: 60_000 })
})
