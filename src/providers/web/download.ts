// Downloads the file of an inbound message: encrypted, from any host, through the guard against private networks.
import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import type { App } from '../../core/app.ts'
import type { FetchedMedia } from '../provider.ts'
import type { InboundMedia } from '../reports.ts'
import type { DownloadReference } from './inbound-content.ts'
import { loadWhatsApp } from './package.ts'

/** The largest file that the network carries for a document. */
const maxBytes = 100 * 1024 * 1024
const timeoutMs = 60_000
const macBytes = 10

export async function download(app: App, media: InboundMedia, signal: AbortSignal): Promise<FetchedMedia> {
  const opened = app.sealer.tryOpen(Buffer.from(media.reference, 'base64'))
  if (!opened) return { outcome: 'refused', detail: 'the reference to the file cannot be decrypted on this server' }
  const { kind, directPath, mediaKey, url } = JSON.parse(opened.toString()) as DownloadReference
  const from = url?.startsWith('http') ? url : `https://mmg.whatsapp.net${directPath}`
  const answer = await app.egress.get(from, { maxBytes, timeoutMs, signal })
  if (answer.outcome === 'too_large') return { outcome: 'refused', detail: 'the file is too large' }
  if (answer.outcome === 'error') {
    const outcome = answer.reason === 'blocked_address' ? 'refused' : 'retry'
    return { outcome, detail: `the file could not be fetched (${answer.reason})` }
  }
  if (answer.status !== 200) {
    const outcome = answer.status >= 500 || answer.status === 429 ? 'retry' : 'refused'
    return { outcome, detail: `the file could not be fetched (HTTP ${answer.status})` }
  }
  const { getMediaKeys } = await loadWhatsApp(app)
  const plain = decrypt(answer.body, await getMediaKeys(Buffer.from(mediaKey, 'base64'), kind))
  if (!plain) return { outcome: 'refused', detail: 'the file was changed on its way' }
  return { outcome: 'fetched', bytes: once(plain) }
}

interface MediaKeys {
  iv: Uint8Array
  cipherKey: Uint8Array
  macKey?: Uint8Array
}

/** Undefined if the authentication code is wrong. */
function decrypt(sealed: Buffer, { iv, cipherKey, macKey }: MediaKeys): Buffer | undefined {
  if (!macKey || sealed.length <= macBytes) return undefined
  const body = sealed.subarray(0, -macBytes)
  const mac = createHmac('sha256', macKey).update(iv).update(body).digest().subarray(0, macBytes)
  if (!timingSafeEqual(mac, sealed.subarray(-macBytes))) return undefined
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
  return Buffer.concat([decipher.update(body), decipher.final()])
}

async function* once(bytes: Buffer): AsyncIterable<Uint8Array> {
  yield bytes
}
