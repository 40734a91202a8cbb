// A gateway that is killed around a call to Meta: no message leaves twice, and connecting goes on in the next process.
import { expect, it } from 'vitest'
import { api, cloneDatabase, createAccount, openGateway, sql, startGateway, until } from '../kit/kit.ts'
import { fresh, rigOf } from './rig.ts'
import { openStandIn } from './stand-in.ts'

async function openStage() {
  const [databaseUrl, standIn] = await Promise.all([cloneDatabase(), openStandIn()])
  const account = await createAccount(databaseUrl)
  const env = { CLOUD_API_URL: standIn.url, CLOUD_RECONCILE_SECONDS: '1' }
  return { databaseUrl, standIn, account, env }
}

it('sends no message twice, wherever its process dies around the call', async () => {
  const { databaseUrl, standIn, account, env } = await openStage()
  const setup = await openGateway({ databaseUrl, env })
  const rig = rigOf(databaseUrl, standIn, setup, account)
  const phone = await rig.phone()
  await setup.stop()
  const ids: string[] = []
  for (const failpoint of ['send.before_provider', 'send.before_commit']) {
    const doomed = await startGateway({ databaseUrl, env: { ...env, FAILPOINT: `${failpoint}=kill` } })
    // The process may die before it answers.
    const message = { instanceId: phone.id, to: fresh(), type: 'text', text: failpoint }
    await api(doomed, account.apiKey)
      .post('messages/send', message)
      .catch(() => {})
    expect((await doomed.exited).signal).toBe('SIGKILL')
    const { rows } = await sql(databaseUrl).query('select id from messages where body = $1', [failpoint])
    ids.push(rows[0].id)
  }
  await openGateway({ databaseUrl, env })
  const ends = await Promise.all(ids.map((id) => rig.settled(id)))
  const sent = ids.map((id) => standIn.messages.filter((message) => message.biz_opaque_callback_data === id).length)
  // A message that was claimed may have left, for all that the next process knows.
  expect([sent, ends.map(({ error }) => error)]).toEqual([
    [0, 1],
    ['UNKNOWN_OUTCOME', 'UNKNOWN_OUTCOME'],
  ])
})

it('goes on connecting in another process after a kill', async () => {
  const { databaseUrl, standIn, account, env } = await openStage()
  const doomed = await startGateway({ databaseUrl, env })
  const rig = rigOf(databaseUrl, standIn, doomed, account)
  const number = standIn.addNumber()
  const id = await rig.create(number)
  standIn.addFault({ on: new RegExp(`GET ${number.id}$`), effect: 'hang' })
  await rig.api.post(`instances/${id}/connect`)
  await until(() => standIn.hanging() === 1)
  doomed.kill('SIGKILL')
  await openGateway({ databaseUrl, env })
  await until(async () => (await rig.state(id)).status === 'connected', { timeoutMs: 45_000 })
})
