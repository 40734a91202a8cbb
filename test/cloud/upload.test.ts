// The upload of one file by several processes: one of them does it, and another takes over if that one dies.
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { StoredFile } from '../../src/providers/provider.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { openPassage, type Passage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import { openProvider, outgoing, type ProviderRig, type Shop } from './provider-rig.ts'
import { openStandIn, type StandIn } from './stand-in.ts'

interface Stage {
  databaseUrl: string
  standIn: StandIn
  rigs: ProviderRig[]
  shop: Shop
  file: StoredFile
}

/** Two processes with one file. */
async function openStage(isStored = true): Promise<Stage> {
  const bytes = Buffer.from('a file')
  const open = async () => (isStored ? Readable.from([bytes]) : undefined)
  const file = { id: crypto.randomUUID(), mimeType: 'image/png', size: bytes.length, extension: 'png', open }
  const databaseUrl = await cloneDatabase()
  const standIn = await openStandIn()
  const rigs = [await openProvider(databaseUrl, standIn, file), await openProvider(databaseUrl, standIn, file)]
  return { databaseUrl, standIn, rigs, shop: await (rigs[0] as ProviderRig).shop(), file }
}

const image = () => outgoing({ type: 'image', mediaUrl: 'https://ours.example/media/x.png' })

it('happens once, and the messages of the other process wait for it', async () => {
  const { standIn, rigs, shop } = await openStage()
  const send = async () => {
    const sends = rigs.flatMap(({ provider }) => Array.from({ length: 10 }, () => provider.send(shop.instance, image())))
    return Object.groupBy(await Promise.all(sends), ({ outcome }) => outcome)
  }
  const { accepted = [], retry = [] } = await send()
  expect([accepted.length + retry.length, standIn.count(/media$/)]).toEqual([20, 1])
  expect(accepted.length).toBeGreaterThanOrEqual(10)
  for (const outcome of retry) expect(outcome).toMatchObject({ detail: 'the file is being uploaded', holds: { of: 'recipient' } })
  expect((await send()).accepted).toHaveLength(20)
  expect(standIn.count(/media$/)).toBe(1)
})

it('is taken over when the process that had begun it is gone', async () => {
  const { databaseUrl, standIn, rigs, shop, file } = await openStage()
  const leased = (seconds: number) =>
    sql(databaseUrl).query(
      `insert into cloud_media ("phoneNumberId", "mediaId", token, "leaseUntil") values ($1, $2, $2, now() + make_interval(secs => $3))
       on conflict ("phoneNumberId", "mediaId") do update set "leaseUntil" = excluded."leaseUntil"`,
      [shop.number.id, file.id, seconds],
    )
  const [{ provider }] = rigs as [ProviderRig]
  await leased(60)
  expect(await provider.send(shop.instance, image())).toMatchObject({ outcome: 'retry', holds: { of: 'recipient' } })
  await leased(-1)
  expect(await provider.send(shop.instance, image())).toMatchObject({ outcome: 'accepted' })
  expect(standIn.count(/media$/)).toBe(1)
})

it('is tried again when a server in between gives up on it, because the message itself was not sent', async () => {
  const { standIn, rigs, shop } = await openStage()
  const [{ provider }] = rigs as [ProviderRig]
  standIn.addFault({ on: /POST .*\/media$/, effect: { bare: 408 } })
  expect(await provider.send(shop.instance, image())).toMatchObject({ outcome: 'retry', holds: { of: 'recipient' } })
  await until(async () => (await provider.send(shop.instance, image())).outcome === 'accepted')
})

it('is tried more and more rarely while it gets no answer, however many messages have the file', async () => {
  const { standIn, rigs, shop } = await openStage()
  const [{ provider }] = rigs as [ProviderRig]
  standIn.addFault({ on: /POST .*\/media$/, effect: { bare: 502 }, times: 1_000 })
  const waits: number[] = []
  const send = async () => {
    const sends = Array.from({ length: 5 }, () => provider.send(shop.instance, image()))
    const outcomes = await Promise.all(sends)
    for (const outcome of outcomes) expect(outcome).toMatchObject({ outcome: 'retry', holds: { of: 'recipient' } })
    const tries = standIn.count(/media$/)
    if (tries > waits.length) waits.push(Math.max(...outcomes.map((outcome) => ('afterMs' in outcome && outcome.afterMs) || 0)))
    return tries === 3
  }
  await until(send)
  expect(waits).toEqual([1_000, 2_000, 4_000])
  standIn.clearFaults()
  await until(async () => (await provider.send(shop.instance, image())).outcome === 'accepted')
  expect(standIn.count(/media$/)).toBe(4)
})

it('fails for good when the bytes of the file are missing in the store', async () => {
  const { databaseUrl, rigs, shop } = await openStage(false)
  const [{ provider }] = rigs as [ProviderRig]
  const refused = { outcome: 'refused', error: 'MEDIA_REJECTED', detail: 'the file is no longer stored', byGateway: true }
  expect(await provider.send(shop.instance, image())).toEqual(refused)
  expect((await sql(databaseUrl).query('select from cloud_media')).rowCount).toBe(0)
})

describe('does not hold up the messages with its file', () => {
  /** One process, whose way to the database can lose an answer. */
  async function openOne(): Promise<{
    own: string
    passage: Passage
    standIn: StandIn
    file: StoredFile
    send: () => Promise<boolean>
  }> {
    const bytes = Buffer.from('a file')
    const open = async () => Readable.from([bytes])
    const file: StoredFile = { id: crypto.randomUUID(), mimeType: 'image/png', size: bytes.length, extension: 'png', open }
    const own = await cloneDatabase()
    const passage = await openPassage(Number(new URL(own).port))
    const standIn = await openStandIn()
    const way = Object.assign(new URL(own), { host: `127.0.0.1:${passage.port}` }).href
    const rig = await openProvider(way, standIn, file)
    const shop = await rig.shop()
    const send = async () => (await rig.provider.send(shop.instance, image())).outcome === 'accepted'
    return { own, passage, standIn, file, send }
  }

  it('when the database is away once Meta has the file', async () => {
    const { own, standIn, send } = await openOne()
    const away = await refuse(own, 'update', 'cloud_media')
    const first = send()
    await away.happened()
    await away()
    await first
    await until(send)
    expect(standIn.count(/media$/)).toBe(1)
  })

  it('when the answer to its claim is lost', async () => {
    const { passage, standIn, send } = await openOne()
    passage.loseAnswer('insert into cloud_media')
    expect(await send()).toBe(false)
    await until(send)
    expect(standIn.count(/media$/)).toBe(1)
  })

  it('when the store of files does not answer once', async () => {
    const { standIn, file, send } = await openOne()
    const { open } = file
    file.open = () => {
      file.open = open
      return Promise.reject(new Error('the bucket is away'))
    }
    expect(await send()).toBe(false)
    await until(send)
    expect(standIn.count(/media$/)).toBe(1)
  })
})
