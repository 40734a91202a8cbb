// Downloads the file of an inbound message: encrypted, from any host, through the guard against private networks.
import type { App } from '../../core/app.ts'
import type { FetchedMedia } from '../provider.ts'
import type { InboundMedia } from '../reports.ts'
import { decrypted } from './decrypt.ts'
import type { DownloadReference } from './inbound-content.ts'
import { loadWhatsApp } from './package.ts'

const timeoutMs = 60_000

export async function download(app: App, media: InboundMedia, signal: AbortSignal): Promise<FetchedMedia> {
  const opened = app.sealer.tryOpen(Buffer.from(media.reference, 'base64'))
  if (!opened) return { outcome: 'refused', detail: 'the reference to the file cannot be decrypted on this server' }
  const { kind, directPath, mediaKey, url } = JSON.parse(opened.toString()) as DownloadReference
  const from = url?.startsWith('http') ? url : `https://mmg.whatsapp.net${directPath}`
  const answer = await app.egress.open(from, { timeoutMs, signal })
  if (answer.outcome === 'error') {
    const outcome = answer.reason === 'blocked_address' ? 'refused' : 'retry'
    return { outcome, detail: `the file could not be fetched (${answer.reason})` }
  }
  if (answer.status !== 200) {
    const outcome = answer.status >= 500 || answer.status === 429 ? 'retry' : 'refused'
    return { outcome, detail: `the file could not be fetched (HTTP ${answer.status})` }
  }
  const { getMediaKeys } = await loadWhatsApp(app)
  const { iv, cipherKey, macKey } = await getMediaKeys(Buffer.from(mediaKey, 'base64'), kind)
  if (!macKey) return { outcome: 'refused', detail: 'the file has no key' }
  return { outcome: 'fetched', bytes: decrypted(answer.body, { iv, cipherKey, macKey }) }
}
