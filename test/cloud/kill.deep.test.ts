// A gateway that is killed around each call to Meta: no message leaves twice, and connecting goes on in the next process.
import { expect, it } from 'vitest'
import { openGateway, startGateway, until } from '../kit/kit.ts'
import { openStage, sendAndKill } from './kill-rig.ts'
import { rigOf } from './rig.ts'

it('sends no message twice, wherever its process dies', async () => {
  const failpoints = ['send.after_claim', 'send.before_provider', 'send.after_provider_accept', 'send.before_commit']
  // A message that was claimed may have left, for all that the next process knows.
  const error = 'UNKNOWN_OUTCOME'
  expect(await sendAndKill(failpoints)).toEqual([0, 0, 1, 1].map((sent) => ({ sent, error })))
}, 240_000)

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
  await until(async () => (await rig.state(id)).status === 'connected', { timeoutMs: 60_000 })
}, 240_000)
