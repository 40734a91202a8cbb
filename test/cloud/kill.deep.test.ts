// A gateway that is killed around each call to Meta: no message leaves twice, and connecting goes on in the next process.
import { expect, it } from 'vitest'
import { startGateway } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { createVerified, openCallback } from './callback-rig.ts'
import { openStage, sendAndKill } from './kill-rig.ts'
import { rigOf } from './rig.ts'

it('sends no message twice, wherever its process dies', async () => {
  const failpoints = ['send.after_claim', 'send.before_provider', 'send.after_provider_accept', 'send.before_commit']
  // A message that was claimed may have left, for all that the next process knows.
  const error = 'UNKNOWN_OUTCOME'
  const settled = { sent: 1, error: null }
  expect(await sendAndKill([...failpoints, 'send.after_commit_before_ack'])).toEqual([
    ...[0, 0, 1, 1].map((sent) => ({ sent, error })),
    settled,
  ])
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

it('does not leave a business account pointed at us whose subscription outlived its process', async () => {
  const { databaseUrl, standIn, account, env } = await openStage()
  const callback = await openCallback()
  const own = { ...env, PUBLIC_URL: callback.publicUrl }
  const doomed = await startGateway({ databaseUrl, env: own })
  const number = standIn.addNumber()
  const next = standIn.addNumber({ accessToken: number.accessToken }).businessAccountId
  const former = number.businessAccountId
  const first = rigOf(databaseUrl, standIn, doomed, account)
  const id = await createVerified(first, callback, number)
  const { promise, resolve } = Promise.withResolvers<void>()
  standIn.addFault({ on: new RegExp(`POST ${former}/subscribed_apps`), effect: promise })
  await first.api.post(`instances/${id}/connect`)
  await until(() => standIn.count(new RegExp(`POST ${former}`)) === 1)
  doomed.kill('SIGKILL')
  resolve()
  await until(() => standIn.isSubscribed(former))
  const rig = rigOf(databaseUrl, standIn, await openGateway({ databaseUrl, env: own }), account)
  expect((await rig.api.put(`instances/${id}`, { settings: { businessAccountId: next } })).body.data.status).toBe('connecting')
  await until(() => standIn.callbackOf(next)?.url.endsWith(id), { timeoutMs: 60_000 })
  await until(() => !standIn.isSubscribed(former), { timeoutMs: 60_000 })
  expect(await rig.state(id)).toEqual({ status: 'connected', lastError: null })
}, 240_000)
