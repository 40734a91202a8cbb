// The files of messages: one of ours is uploaded once for each number and used again, any other is fetched by Meta from its address.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { upload } from '../media/rig.ts'
import { fresh, openRig, type Phone, type Rig } from './rig.ts'

let rig: Rig
let phone: Phone

beforeAll(async () => {
  rig = await openRig()
  phone = await rig.phone()
})

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(40, 1)])
const pdf = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n')
/** An Ogg page with the head of an Opus stream, and one with the head of a Vorbis stream. */
const ogg = (head: string) =>
  Buffer.concat([Buffer.from('OggS\0\x02'), Buffer.alloc(20), Buffer.from([1, 30]), Buffer.from(head), Buffer.alloc(40)])

async function stored(bytes: Buffer): Promise<string> {
  const { status, body } = await upload(rig.gateway, rig.account.apiKey, bytes)
  expect({ status, body }).toMatchObject({ status: 201 })
  return body.data.url
}

function uploads(number = phone.number): number {
  return rig.standIn.count(new RegExp(`POST ${number.id}/media`))
}

function takenBy(messageId: string) {
  return rig.standIn.messages.find((message) => message.biz_opaque_callback_data === messageId)
}

it('of ours is uploaded as it is, once, also by many messages at once', async () => {
  const mediaUrl = await stored(png)
  const before = uploads()
  const items = Array.from({ length: 40 }, () => ({ instanceId: phone.id, to: fresh(), type: 'image', mediaUrl, text: 'A view' }))
  const { body } = await rig.api.post('messages/bulk', { messages: items })
  const ids: string[] = body.data.accepted.map(({ id }: { id: string }) => id)
  for (const id of ids) expect(await rig.settled(id)).toMatchObject({ error: null })
  expect(uploads() - before).toBe(1)
  const { image } = takenBy(ids[0] as string) as unknown as { image: { id: string; caption: string } }
  expect(image.caption).toBe('A view')
  expect(rig.standIn.uploads.get(image.id)).toMatchObject({ mimeType: 'image/png', bytes: png, phoneNumberId: phone.number.id })
})

it('is uploaded again for another number, and after 29 days', async () => {
  const other = await rig.phone()
  const mediaUrl = await stored(pdf)
  for (const { id } of [phone, other]) await rig.settled(await rig.send(id, { type: 'document', mediaUrl }))
  expect(uploads(other.number)).toBe(1)
  const age = (days: number) =>
    sql(rig.databaseUrl).query(
      `update cloud_media set "uploadedAt" = now() - make_interval(days => $2) where "phoneNumberId" = $1`,
      [other.number.id, days],
    )
  await age(28)
  await rig.settled(await rig.send(other.id, { type: 'document', mediaUrl }))
  expect(uploads(other.number)).toBe(1)
  await age(29)
  await rig.settled(await rig.send(other.id, { type: 'document', mediaUrl }))
  expect(uploads(other.number)).toBe(2)
})

describe('a message', () => {
  it('waits for an upload that was lost, without a loss', async () => {
    const mediaUrl = await stored(Buffer.concat([pdf, Buffer.from('lost')]))
    rig.standIn.addFault({ on: new RegExp(`POST ${phone.number.id}/media`), effect: 'lose' })
    const id = await rig.send(phone.id, { type: 'document', mediaUrl })
    expect(await rig.settled(id)).toMatchObject({ error: null, attempts: 1 })
    expect(rig.standIn.messages.filter((message) => message.biz_opaque_callback_data === id)).toHaveLength(1)
  })

  it('fails with MEDIA_REJECTED when Meta does not take the file', async () => {
    const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(40, 1)])
    const id = await rig.send(phone.id, { type: 'image', mediaUrl: await stored(gif) })
    expect(await rig.settled(id)).toMatchObject({
      error: 'MEDIA_REJECTED',
      errorDetail: expect.stringMatching(/image\/gif.*\(100\)$/),
    })
  })

  it('fails with MEDIA_REJECTED when its file was deleted', async () => {
    const uploaded = await upload(rig.gateway, rig.account.apiKey, Buffer.concat([pdf, Buffer.from('gone')]))
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const { url: mediaUrl, id: mediaId } = uploaded.body.data
    const id = await rig.send(phone.id, { type: 'document', mediaUrl, scheduledAt })
    await rig.api.delete(`media/${mediaId}`)
    // Dispatches it now, because the time of its job cannot pass in a test.
    await sql(rig.databaseUrl).query('update messages set "scheduledAt" = now(), "dueAt" = now() where id = $1', [id])
    await sql(rig.databaseUrl).query(`update pgboss.job set start_after = now() where data->>'id' = $1`, [id])
    expect(await rig.settled(id)).toMatchObject({ error: 'MEDIA_REJECTED', errorDetail: 'the file is no longer stored' })
  })

  it('uploads its file again after Meta refused the upload it named', async () => {
    const mediaUrl = await stored(Buffer.concat([pdf, Buffer.from('forgotten')]))
    const before = uploads()
    rig.standIn.addFault({ on: new RegExp(`POST ${phone.number.id}/messages`), effect: { code: 131053 } })
    expect(await rig.settled(await rig.send(phone.id, { type: 'document', mediaUrl }))).toMatchObject({ error: 'MEDIA_REJECTED' })
    expect(await rig.settled(await rig.send(phone.id, { type: 'document', mediaUrl }))).toMatchObject({ error: null })
    expect(uploads() - before).toBe(2)
  })

  it('keeps the upload when Meta refuses it for its recipient', async () => {
    const mediaUrl = await stored(Buffer.concat([pdf, Buffer.from('kept')]))
    const before = uploads()
    rig.standIn.addFault({ on: new RegExp(`POST ${phone.number.id}/messages`), effect: { code: 131026 } })
    expect(await rig.settled(await rig.send(phone.id, { type: 'document', mediaUrl }))).toMatchObject({
      error: 'RECIPIENT_NOT_FOUND',
    })
    expect(await rig.settled(await rig.send(phone.id, { type: 'document', mediaUrl }))).toMatchObject({ error: null })
    expect(uploads() - before).toBe(1)
  })

  it('names the address of a file that lies elsewhere', async () => {
    const before = uploads()
    const id = await rig.send(phone.id, { type: 'video', mediaUrl: 'https://example.com/tour.mp4' })
    await rig.settled(id)
    expect(takenBy(id)).toMatchObject({ video: { link: 'https://example.com/tour.mp4' } })
    expect(uploads()).toBe(before)
  })
})

describe('a voice note', () => {
  it('goes out as one when it is Ogg with Opus', async () => {
    const id = await rig.send(phone.id, { type: 'voice_note', mediaUrl: await stored(ogg('OpusHead')) })
    expect(await rig.settled(id)).toMatchObject({ error: null })
    expect(takenBy(id)).toMatchObject({ type: 'audio', audio: { voice: true } })
  })

  it('is refused when its type is known to be another, also in a bulk, a schedule and a campaign', async () => {
    const mp3 = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0'), Buffer.from('fffb9064', 'hex'), Buffer.alloc(100)])
    const [to, recipients] = [fresh(), [{ to: fresh() }]]
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const error = { code: 'VALIDATION_ERROR', message: 'mediaUrl: must be Ogg with Opus for a voice note' }
    for (const bytes of [mp3, ogg('\x01vorbis')]) {
      const voice = { instanceId: phone.id, type: 'voice_note', mediaUrl: await stored(bytes) }
      for (const [path, body] of [
        ['messages/send', { ...voice, to }],
        ['messages/schedule', { ...voice, to, scheduledAt }],
        ['campaigns', { ...voice, name: 'Voices', recipients }],
        ['campaigns', { ...voice, name: 'Voices', recipients, scheduledAt }],
      ] as const) {
        const answer = await rig.api.post(path, body)
        expect([path, answer.status, answer.body.error]).toEqual([path, 400, error])
      }
      const { body } = await rig.api.post('messages/bulk', { messages: [{ ...voice, to }] })
      expect(body.data).toMatchObject({ accepted: [], rejected: [{ index: 0, ...error }] })
    }
  })

  it('may be what a campaign sends, when its file is right', async () => {
    const voice = { instanceId: phone.id, type: 'voice_note', mediaUrl: await stored(ogg('OpusHead')) }
    // In an hour: its upload would come during a later test.
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const recipients = [{ to: fresh() }]
    const { status, body } = await rig.api.post('campaigns', { ...voice, name: 'Voices', recipients, scheduledAt })
    expect({ status, body }).toMatchObject({ status: 201 })
  })
})

it('does not hold up messages without a file while an upload hangs', async () => {
  const mediaUrl = await stored(Buffer.concat([pdf, Buffer.from('slow')]))
  rig.standIn.addFault({ on: new RegExp(`POST ${phone.number.id}/media`), effect: 'hang' })
  const slow = await rig.send(phone.id, { type: 'document', mediaUrl })
  await until(() => rig.standIn.hanging() === 1)
  expect(await rig.settled(await rig.send(phone.id, { text: 'quick' }))).toMatchObject({ error: null })
  expect(await rig.row(slow)).toMatchObject({ acceptedAt: null, error: null })
  rig.standIn.clearFaults()
  expect(await rig.settled(slow)).toMatchObject({ error: null, attempts: 1 })
})
