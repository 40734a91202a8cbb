// A process that crashes during attempts loses none, repeats none under another id, and makes no sixth attempt.
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { allowed, measuredAgain } from '../kit/measured.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { delivered, sendOne } from './crash-rig.ts'
import { hang, openReceiver, status } from './receiver.ts'
import { openRig } from './rig.ts'

// Measured again when other load keeps this machine too busy.
it.each([
  ['before the request', 'hook.before_post', 1],
  ['after the 2xx, before its commit', 'hook.after_2xx_before_commit', 2],
])('a process killed %s costs one more attempt under the same id', measuredAgain, async (_, failpoint, requests) => {
  const receiver = await openReceiver()
  let second = {} as Gateway
  // The start of a process must not count in the measurement: the second process is frozen, and wakes when the first dies.
  const { account, gateway, webhook } = await sendOne({ FAILPOINT: `${failpoint}=kill` }, receiver.url, async (databaseUrl) => {
    second = await startGateway({ databaseUrl })
    second.kill('SIGSTOP')
  })
  expect(await gateway.exited).toMatchObject({ signal: 'SIGKILL' })
  const died = Date.now()
  second.kill('SIGCONT')
  const delivery = await delivered(second, account.apiKey, webhook.id)
  expect(delivery).toMatchObject({ attempts: 2, event: 'message.sent', responseCode: 200 })
  expect(receiver.requests).toHaveLength(requests)
  expect(new Set(receiver.requests.map((request) => request.headers['webhook-id']))).toEqual(new Set([delivery.eventId]))
  for (const request of receiver.requests) new Webhook(webhook.secret).verify(request.body, request.headers)
  expect((receiver.requests.at(-1)?.at ?? 0) - died).toBeLessThan(allowed(12_000))
})

it('a frozen process that wakes up after its lease has expired cannot write its outdated result', async () => {
  const receiver = await openReceiver(hang)
  const { databaseUrl, account, gateway, webhook } = await sendOne({}, receiver.url)
  await until(() => receiver.requests.length === 1)
  gateway.kill('SIGSTOP')
  receiver.answer = status(200)
  const second = await openGateway({ databaseUrl })
  expect(await delivered(second, account.apiKey, webhook.id)).toMatchObject({ attempts: 2, responseCode: 200 })
  gateway.kill('SIGCONT')
  await until(async () => /gateway_fenced_writes_total [1-9]/.test((await api(gateway).get('/metrics')).body))
  expect(await delivered(second, account.apiKey, webhook.id)).toMatchObject({ attempts: 2, responseCode: 200, error: null })
})

it('a process that is asked to stop releases a hanging attempt within 10 s', async () => {
  const receiver = await openReceiver(hang)
  const { databaseUrl, account, gateway, webhook } = await sendOne({}, receiver.url)
  await until(() => receiver.requests.length === 1)
  const began = Date.now()
  expect(await gateway.stop()).toEqual({ code: 0, signal: null })
  expect(Date.now() - began).toBeLessThan(allowed(10_000))
  const { rows } = await sql(databaseUrl).query('select status, error, "leaseUntil", attempts from webhook_deliveries')
  expect(rows).toEqual([{ status: 'retrying', error: 'interrupted', leaseUntil: null, attempts: 1 }])
  receiver.answer = status(200)
  const second = await openGateway({ databaseUrl })
  expect(await delivered(second, account.apiKey, webhook.id)).toMatchObject({ attempts: 2 })
})

it('an attempt that kills its process every time is made five times and no more', async () => {
  const rig = await openRig()
  rig.app.failpoint = async (name) => {
    if (name === 'hook.after_2xx_before_commit') throw new Error('died here')
  }
  const receiver = await openReceiver()
  const endpoint = await rig.endpoint(receiver.url)
  const [id] = await rig.emit()
  // Leases are cut short, so that the test does not wait until they expire.
  const rows = await until(
    async () => {
      await rig.app.pool.query(
        'update webhook_deliveries set "leaseUntil" = now() where "lastAttemptAt" < now() - interval \'200 ms\'',
      )
      const all = await rig.deliveries(endpoint.id)
      return all[0]?.status === 'failed' ? all : null
    },
    { everyMs: 100 },
  )
  expect(rows[0]).toMatchObject({ attempts: 5, error: 'interrupted', nextAttemptAt: null })
  // With its lease cut short, an attempt may be closed before its request arrives here.
  await until(() => receiver.requests.length >= 5)
  expect(receiver.requests.map((request) => request.headers['webhook-id'])).toEqual([id, id, id, id, id])
})
