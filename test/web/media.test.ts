// Files over WhatsApp Web: ours and those of other hosts leave encrypted, and those that come in are kept in our store.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getBinaryNodeChild } from 'baileys'
import { beforeAll, describe, expect, it } from 'vitest'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { samples, upload } from '../media/rig.ts'
import type { Answer } from '../webhooks/receiver.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import type { Arrived, Loopback } from './loopback.ts'
import { type Files, openFiles, sealFile } from './loopback-files.ts'
import { type Client, environmentOf, openClient, openLoopback, rowsOf, sendsWith } from './rig.ts'

const ann = '393331234567'
const shop = '390000000001'
const png = samples['image/png'] as Buffer
const opus = samples['audio/ogg; codecs=opus'] as Buffer

/** Serves a file. */
const file =
  (bytes: Buffer, type: string): Answer =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': type }).end(bytes)

let network: Loopback
let files: Files
let gateway: InnerGateway
let client: Client
let instanceId: string
let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  network = await openLoopback(ann)
  files = await openFiles(network)
  gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  client = await openClient(databaseUrl, gateway)
  instanceId = await client.pair(network, shop)
})

async function send(fields: object): Promise<string> {
  const { status, body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, ...fields })
  if (status >= 300) throw new Error(JSON.stringify(body))
  return body.data.id
}

async function stored(bytes: Buffer): Promise<string> {
  return (await upload(gateway, client.account.apiKey, bytes)).body.data.url
}

async function rowOf(id: string) {
  const text = 'select status, error, "errorDetail", "mediaUrl", content, "providerMessageId" from messages where id = $1'
  return (await rowsOf(databaseUrl, text, [id]))[0]
}

async function arrivedAs(id: string): Promise<Arrived> {
  const { providerMessageId } = await until(async () => {
    const row = await rowOf(id)
    return row.status === 'sent' ? row : undefined
  })
  return await until(() => network.arrived.find((one) => one.id === providerMessageId))
}

const rejected = async (fields: object) => {
  const id = await send(fields)
  return await until(async () => {
    const row = await rowOf(id)
    return row.error ? { error: row.error, errorDetail: row.errorDetail } : undefined
  })
}

describe('a file that is sent', () => {
  it('arrives as it is in our store, with its type, caption and name', async () => {
    const { message } = await arrivedAs(await send({ type: 'image', mediaUrl: await stored(png), text: 'A view' }))
    expect(message.imageMessage).toMatchObject({ mimetype: 'image/png', caption: 'A view' })
    expect(await files.fileOf(message.imageMessage, 'image')).toEqual(png)
    const pdf = samples['application/pdf'] as Buffer
    const mediaUrl = await stored(pdf)
    const document = (await arrivedAs(await send({ type: 'document', mediaUrl }))).message.documentMessage
    expect(document).toMatchObject({ mimetype: 'application/pdf', fileName: mediaUrl.split('/').at(-1) })
    expect(await files.fileOf(document, 'document')).toEqual(pdf)
  })

  it('is tried again when it could not be uploaded, because nothing has left', async () => {
    files.failing = 1
    const { message } = await arrivedAs(await send({ type: 'image', mediaUrl: await stored(png), text: 'Second try' }))
    expect(message.imageMessage).toMatchObject({ caption: 'Second try' })
    expect([files.failing, await sendsWith(gateway, 'retry'), await sendsWith(gateway, 'unknown')]).toEqual([0, 1, 0])
  })

  it('leaves over the same connection after the network once did not name a host for it', async () => {
    const other = await client.pair(network, '390000000005')
    let refused = 0
    network.onRequest = (request) => (getBinaryNodeChild(request, 'media_conn') && refused++ === 0 ? '500' : undefined)
    const logins = network.logins
    const sent = await send({ instanceId: other, type: 'image', mediaUrl: await stored(png), text: 'Asked again' })
    const { message } = await arrivedAs(sent).finally(() => {
      network.onRequest = undefined
    })
    expect(await files.fileOf(message.imageMessage, 'image')).toEqual(png)
    expect([refused, network.logins - logins]).toEqual([2, 0])
  })

  it('is a voice note if it is Ogg with Opus, and a video or a sound as its type says', async () => {
    const voice = (await arrivedAs(await send({ type: 'voice_note', mediaUrl: await stored(opus) }))).message.audioMessage
    expect(voice).toMatchObject({ ptt: true, mimetype: 'audio/ogg; codecs=opus' })
    const [mp3, mp4] = [samples['audio/mpeg'] as Buffer, samples['video/mp4'] as Buffer]
    const sound = (await arrivedAs(await send({ type: 'audio', mediaUrl: await stored(mp3) }))).message.audioMessage
    expect(sound).toMatchObject({ mimetype: 'audio/mpeg' })
    expect(sound?.ptt).not.toBe(true)
    const video = (await arrivedAs(await send({ type: 'video', mediaUrl: await stored(mp4) }))).message.videoMessage
    expect(await files.fileOf(video, 'video')).toEqual(mp4)
    const { status, body } = await client.api.post('messages/send', {
      instanceId,
      to: `+${ann}`,
      type: 'voice_note',
      mediaUrl: await stored(mp3),
    })
    expect([status, body.error.message]).toEqual([400, 'mediaUrl: must be Ogg with Opus for a voice note'])
  })

  it('is fetched from another host, also behind a redirect', async () => {
    const host = await openReceiver((request, response, socket) => {
      if (request.path === '/moved') response.writeHead(302, { location: '/view.png' }).end()
      else file(png, 'image/png')(request, response, socket)
    })
    const mediaUrl = `http://127.0.0.1:${host.port}/moved`
    const { message } = await arrivedAs(await send({ type: 'image', mediaUrl, text: 'elsewhere' }))
    expect(message.imageMessage).toMatchObject({ mimetype: 'image/png', caption: 'elsewhere' })
    expect(await files.fileOf(message.imageMessage, 'image')).toEqual(png)
  })

  it.each([
    ['application/octet-stream', 'image', 'image/jpeg'],
    ['binary/octet-stream', 'video', 'video/mp4'],
    ['application/octet-stream', 'audio', 'audio/mpeg'],
    ['binary/octet-stream', 'document', 'application/octet-stream'],
  ] as const)('that its host calls %s is sent as a file for %s: %s', async (named, type, mimetype) => {
    const host = await openReceiver(file(png, named))
    const { message } = await arrivedAs(await send({ type, mediaUrl: `http://127.0.0.1:${host.port}/file` }))
    expect(message[`${type}Message`]).toMatchObject({ mimetype })
  })

  it('is never fetched from a private network, also when a public host redirects there', async () => {
    const inside = createServer((_, response) => response.end('secret'))
    let reached = 0
    inside.on('connection', () => reached++)
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.2', resolve))
    atEnd('test', async () => void inside.close())
    const location = `http://127.0.0.2:${(inside.address() as AddressInfo).port}/secret.png`
    const host = await openReceiver(status(302, { location }))
    expect(await rejected({ type: 'image', mediaUrl: `http://127.0.0.1:${host.port}/a.png` })).toEqual({
      error: 'MEDIA_REJECTED',
      errorDetail: 'the file could not be fetched (blocked_address)',
    })
    expect([host.requests.length, reached]).toEqual([1, 0])
  })

  it('that is gone, is no voice note or is larger than 16 MiB fails with MEDIA_REJECTED and the reason', async () => {
    const host = await openReceiver((request, response, socket) => {
      if (request.path === '/gone.png') response.writeHead(404).end()
      else if (request.path === '/voice.ogg') file(samples['audio/ogg'] as Buffer, 'audio/ogg')(request, response, socket)
      // The rest of the body never comes.
      else if (request.path === '/declared.mp4') response.writeHead(200, { 'content-length': 16 * 2 ** 20 + 1 }).write('x')
      else response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(Buffer.alloc(16 * 2 ** 20 + 1))
    })
    const at = (path: string) => `http://127.0.0.1:${host.port}/${path}`
    const error = 'MEDIA_REJECTED'
    expect(await rejected({ type: 'image', mediaUrl: at('gone.png') })).toEqual({
      error,
      errorDetail: 'the file could not be fetched (HTTP 404)',
    })
    expect(await rejected({ type: 'voice_note', mediaUrl: at('voice.ogg') })).toEqual({
      error,
      errorDetail: 'a voice note must be Ogg with Opus',
    })
    for (const name of ['declared.mp4', 'long.mp4'])
      expect(await rejected({ type: 'video', mediaUrl: at(name) }), name).toEqual({
        error,
        errorDetail: 'the file is larger than 16 MiB',
      })
    // A document may have 64 MiB.
    const { message } = await arrivedAs(await send({ type: 'document', mediaUrl: at('long.bin') }))
    expect(Number(message.documentMessage?.fileLength)).toBe(16 * 2 ** 20 + 1)
  })
})

describe('a file that comes in', () => {
  const received = async (stanzaId: string) =>
    await until(
      async () => (await rowsOf(databaseUrl, 'select id from messages where "providerMessageId" = $1', [stanzaId]))[0]?.id,
    )

  it('is fetched from any host, and kept in our store in place of the reference of the network', async () => {
    const { sealed, mediaKey } = await sealFile(png, 'image')
    const host = await openReceiver(file(sealed, 'application/octet-stream'))
    const imageMessage = {
      url: `http://127.0.0.1:${host.port}/f`,
      directPath: '/f',
      mediaKey,
      mimetype: 'image/png',
      caption: 'Look',
    }
    const id = await received(await network.write(ann, shop, { imageMessage }))
    const { mediaUrl, content } = await until(async () => {
      const row = await rowOf(id)
      return row.mediaUrl ? row : undefined
    })
    expect((await client.api.get(`messages/${id}`)).body.data).toMatchObject({ type: 'image', body: 'Look', mediaUrl })
    expect(Buffer.from(await (await fetch(mediaUrl)).arrayBuffer())).toEqual(png)
    expect(content).toEqual({ kind: 'image', media: {} })
  })

  it('is left out with the reason when it was changed on its way, is gone, or lies in a private network', async () => {
    const { sealed, mediaKey } = await sealFile(opus, 'audio')
    const host = await openReceiver((request, response, socket) => {
      if (request.path === '/gone') response.writeHead(404).end()
      else file(Buffer.concat([sealed.subarray(1), sealed.subarray(0, 1)]), 'application/octet-stream')(request, response, socket)
    })
    const at = (url: string) => ({
      audioMessage: { url, directPath: '/f', mediaKey, mimetype: 'audio/ogg; codecs=opus', ptt: true },
    })
    const reasons = {
      [`http://127.0.0.1:${host.port}/changed`]: 'the file was changed on its way',
      [`http://127.0.0.1:${host.port}/gone`]: 'the file could not be fetched (HTTP 404)',
      'http://127.0.0.2:9/private': 'the file could not be fetched (blocked_address)',
    }
    for (const [url, errorDetail] of Object.entries(reasons)) {
      const id = await received(await network.write(ann, shop, at(url)))
      expect(await until(async () => ((await rowOf(id)).errorDetail ? await rowOf(id) : undefined))).toMatchObject({
        mediaUrl: null,
        errorDetail,
        content: { kind: 'voice_note' },
      })
    }
  })
})
