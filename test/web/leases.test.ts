// The lease of a connection within one process: it ends the connection when it cannot be renewed, and its start releases what waits.
import { expect, it } from 'vitest'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'

/** A gateway that takes requests, and others, which a test starts and stops, that hold connections. */
async function openParts() {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann)
  const open = (roles: string) => openGateway({ databaseUrl, env: { ...environmentOf(network), ROLES: roles } })
  const client = await openClient(databaseUrl, await open('http'))
  return { databaseUrl, network, client, startWorker: () => open('worker,relay') }
}

it('a connection ends before its lease does when the database cannot renew it, and returns with the database', async () => {
  const account = '390000000071'
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann)
  const client = await openClient(databaseUrl, await openGateway({ databaseUrl, env: environmentOf(network) }))
  const id = await client.pair(network, account)
  const locker = await sql(databaseUrl).connect()
  try {
    // Leases can be read, as acceptance does, and cannot be written.
    await locker.query('begin; lock table instance_leases in exclusive mode')
    const { rows } = await locker.query('select "leaseUntil" from instance_leases where "instanceId" = $1', [id])
    const leaseUntil = rows[0].leaseUntil as Date
    expect(leaseUntil.getTime()).toBeGreaterThan(Date.now())
    await until(() => !network.connected.includes(account))
    expect(Date.now()).toBeLessThan(leaseUntil.getTime())
    // Nothing is sent meanwhile.
    const { body } = await client.api.post('messages/send', { instanceId: id, to: `+${ann}`, type: 'text', text: 'later' })
    await locker.query('rollback')
    await until(
      async () => (await rowsOf(databaseUrl, 'select status from messages where id = $1', [body.data.id]))[0].status === 'sent',
    )
  } finally {
    locker.release()
  }
  expect(network.arrived.map(({ message }) => message.extendedTextMessage?.text)).toEqual(['later'])
  expect([network.replaced, network.faults]).toEqual([0, []])
})

it('messages that wait for a connection leave when it opens, before the job that looks after them', async () => {
  const account = '390000000072'
  const { databaseUrl, network, client, startWorker } = await openParts()
  const former = await startWorker()
  const instanceId = await client.pair(network, account)
  await former.stop()
  const { promise, resolve: open } = Promise.withResolvers<void>()
  network.loginsAfter = promise
  await startWorker()
  const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'at once' })
  const row = async () => (await rowsOf(databaseUrl, 'select status, "heldBy" from messages where id = $1', [body.data.id]))[0]
  await until(async () => (await row()).heldBy !== null)
  // It waits for the connection, and not for a time.
  expect(await rowsOf(databaseUrl, 'select from send_holds')).toEqual([])
  open()
  await until(() => network.arrived.length === 1)
  const [{ waiting }] = await rowsOf(
    databaseUrl,
    `select count(*)::int as waiting from pgboss.job where name = 'message.hold' and state = 'created' and start_after > now()`,
  )
  expect(waiting).toBe(1)
  await until(async () => (await row()).status === 'sent')
})

it('a pairing that the device has confirmed is not lost when its process stops before it is stored', async () => {
  const { databaseUrl, network, client, startWorker } = await openParts()
  const former = await startWorker()
  const id = await client.create()
  await client.api.post(`instances/${id}/connect`, {})
  const qr = await until(async () => (await client.state(id)).qr)
  const { promise, resolve: restart } = Promise.withResolvers<void>()
  network.restartsAfter = promise
  await startWorker()
  const seen = async () => (await rowsOf(databaseUrl, 'select max("seenUntil")::text as at from web_nodes'))[0].at
  const nodes = async () => (await rowsOf(databaseUrl, 'select from web_nodes')).length
  await until(async () => (await nodes()) === 2)
  const locker = await sql(databaseUrl).connect()
  await locker.query('begin; lock table web_creds in exclusive mode')
  network.scan(qr, '390000000073')
  await until(() => network.requests.some(({ attrs }) => attrs.id === 'pair2'))
  const stopped = former.stop()
  await until(() => network.pairing === 0)
  // The next process looks for free leases.
  const last = await seen()
  await until(async () => (await seen()) !== last)
  await locker.query('rollback')
  locker.release()
  await stopped
  restart()
  await client.reached(id, 'connected')
})
