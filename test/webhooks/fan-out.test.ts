// The deliveries of a busy workspace delay neither the events nor the deliveries of others, and each is made once.
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { workOn } from '../../src/core/jobs/work.ts'
import { fanOutImplementation } from '../../src/webhooks/fan-out.ts'
import { webhookSink } from '../../src/webhooks/sink.ts'
import { openRelay } from '../events/rig.ts'
import { until } from '../kit/until.ts'
import { newRig, openRig, type Rig } from './rig.ts'

const endpoints = 21
const events = 50

/** A workspace whose events have so many deliveries that jobs add them, and another one with one event after these. */
async function openBoth(): Promise<{ busy: Rig; other: Rig; endpointId: string }> {
  const busy = await openRig({ working: false })
  const other = await newRig(busy.app)
  for (let i = 0; i < endpoints; i++) await busy.endpoint(`http://127.0.0.1:9/${i}`)
  const { id: endpointId } = await other.endpoint('http://127.0.0.1:9/')
  await busy.emit(events)
  await other.emit()
  await openRelay(busy.app, webhookSink(busy.app))
  await until(async () => (await other.deliveries(endpointId)).length === 1)
  return { busy, other, endpointId }
}

const countOf = async ({ app, account }: Rig) => {
  const text = `select count(*)::int as n, count(distinct (d."eventSeq", d."endpointId"))::int as distinct from webhook_deliveries d
    join webhook_endpoints e on e.id = d."endpointId" where e."workspaceId" = $1`
  return (await app.pool.query(text, [account.workspaceId])).rows[0]
}

it('the deliveries of another workspace come before those of one that has very many', async () => {
  const { busy, endpointId } = await openBoth()
  await using _ = await workOn(busy.app, [fanOutImplementation])
  await until(async () => (await countOf(busy)).n === events * endpoints)
  const [first] = await busy.app.boss.fetch<{ endpointId?: string }>('webhook.deliver')
  expect(first?.data.endpointId).toBe(endpointId)
})

it('an event log that numbers very many events of a workspace does not wait for their deliveries', async () => {
  const { busy } = await openBoth()
  expect(await countOf(busy)).toEqual({ n: 0, distinct: 0 })
})

it('a job that runs again, because its process died, adds no delivery twice', async () => {
  const { busy } = await openBoth()
  const jobs = await busy.app.boss.fetch<object>('webhook.fan_out', { batchSize: 10 })
  expect(jobs).toHaveLength(1)
  for (let runs = 0; runs < 2; runs++)
    await fanOutImplementation.run(
      busy.app,
      jobs.map(({ data }) => data),
    )
  expect(await countOf(busy)).toEqual({ n: events * endpoints, distinct: events * endpoints })
})

it('an endpoint that was created after an event gets no delivery of it, and one that was deleted meanwhile none', async () => {
  const { busy } = await openBoth()
  const late = await busy.endpoint('http://127.0.0.1:9/late')
  const gone = `update webhook_endpoints set "deletedAt" = now() where url = 'http://127.0.0.1:9/0' returning id`
  await sqlTransaction(busy.app.pool, (tx) => tx.query(gone))
  const jobs = await busy.app.boss.fetch<object>('webhook.fan_out', { batchSize: 10 })
  await fanOutImplementation.run(
    busy.app,
    jobs.map(({ data }) => data),
  )
  expect(await countOf(busy)).toMatchObject({ n: events * (endpoints - 1) })
  expect(await busy.deliveries(late.id)).toEqual([])
})
