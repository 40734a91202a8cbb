// Documents at the limit of 64 MiB over WhatsApp Web: the largest arrives as it is, of a larger one no more than the limit is read, and
// many at a time are not kept in memory.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { mostResidentBytes } from '../kit/resident.ts'
import { until } from '../kit/until.ts'
import { samples, upload } from '../media/rig.ts'
import { openReceiver } from '../webhooks/receiver.ts'
import type { Loopback } from './loopback.ts'
import { type Files, openFiles } from './loopback-files.ts'
import { type Client, environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'
const limit = 64 * 2 ** 20
/** Bytes that two sockets may keep between the host and the gateway. */
const buffered = 16 * 2 ** 20

let network: Loopback
let files: Files
let client: Client
let databaseUrl: string
let instanceId: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  network = await openLoopback(ann)
  files = await openFiles(network)
  client = await openClient(databaseUrl, await openGateway({ databaseUrl, env: environmentOf(network) }))
  instanceId = await client.pair(network, '390000000001')
})

async function send(mediaUrl: string) {
  const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'document', mediaUrl })
  const text = 'select status, error, "errorDetail", "providerMessageId" from messages where id = $1'
  return await until(
    async () => {
      const [row] = await rowsOf(databaseUrl, text, [body.data.id])
      return row.status === 'sent' || row.status === 'failed' ? row : undefined
    },
    { timeoutMs: 60_000 },
  )
}

it('a document of 64 MiB arrives as it is', async () => {
  const document = Buffer.alloc(limit, 'all work and no play ')
  const host = await openReceiver((_, response) => void response.end(document))
  const { status, providerMessageId } = await send(`http://127.0.0.1:${host.port}/most.bin`)
  expect(status).toBe('sent')
  const { message } = await until(() => network.arrived.find(({ id }) => id === providerMessageId))
  expect(Number(message.documentMessage?.fileLength)).toBe(limit)
  expect((await files.fileOf(message.documentMessage, 'document')).equals(document)).toBe(true)
})

it('a document without an end fails with MEDIA_REJECTED once the limit is read, and its host is left', async () => {
  const chunk = Buffer.alloc(2 ** 20)
  let written = 0
  let closed = false
  const host = await openReceiver((_, response, socket) => {
    const write = () => {
      while (!socket.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) return
      }
    }
    response.on('drain', write)
    socket.on('close', () => {
      closed = true
    })
    write()
  })
  expect(await send(`http://127.0.0.1:${host.port}/endless.bin`)).toMatchObject({
    status: 'failed',
    error: 'MEDIA_REJECTED',
    errorDetail: 'the file is larger than 64 MiB',
  })
  await until(() => closed)
  console.log(`read of a file without an end: ${Math.round(written / 2 ** 20)} MiB`)
  expect(written).toBeGreaterThan(limit)
  expect(written).toBeLessThan(limit + buffered)
  expect(files.uploads).toHaveLength(1)
})

it('sixteen documents of 30 MiB at a time take less memory than six of them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-test-certificate-'))
  atEnd('test', () => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'ca.pem'), files.certificate)
  const database = await cloneDatabase()
  const env = { ...environmentOf(network), NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
  const child = await startGateway({ databaseUrl: database, env })
  const { account, api, pair } = await openClient(database, child)
  const instance = await pair(network, '390000000002')
  const bytes = 30 * 2 ** 20
  const document = Buffer.concat([samples['application/pdf'] as Buffer, Buffer.alloc(bytes, 'all work and no play ')])
  const mediaUrl = (await upload(child, account.apiKey, document)).body.data.url
  const numbers = Array.from({ length: 16 }, (_, i) => `+39333123450${String(i).padStart(2, '0')}`)
  network.addPhones(...numbers.map((number) => number.slice(1)))
  const before = mostResidentBytes(child.pid)
  await Promise.all(numbers.map((to) => api.post('messages/send', { instanceId: instance, to, type: 'document', mediaUrl })))
  const text = `select count(*) filter (where status = 'sent')::int as sent, max(error) as error from messages`
  const [row] = await until(
    async () => {
      const rows = await rowsOf(database, text)
      return rows[0]?.sent === 16 || rows[0]?.error ? rows : undefined
    },
    { timeoutMs: 100_000 },
  )
  expect(row).toEqual({ sent: 16, error: null })
  const grown = mostResidentBytes(child.pid) - before
  console.log(`16 documents of 30 MiB at a time: ${Math.round(grown / 2 ** 20)} MiB more memory at most`)
  expect(grown).toBeLessThan(6 * bytes)
})
