// Files of outgoing messages: ours are read from the store, others are fetched through the guard against private networks.
import type { OutgoingMessage } from '../outgoing.ts'
import type { ComposeOptions } from './composing.ts'
import { opusSeconds } from './opus.ts'

/** The file of a message cannot be used, and never will. The message says why. */
export class MediaRejected extends Error {}

export interface LoadedMedia {
  bytes: Buffer
  mimetype: string
  fileName: string
  /** Length of a voice note. */
  seconds: number
}

const mebibyte = 1024 * 1024
const fetchMs = 5_000
/** Types that the network takes where the host of the file names none. */
const fallback: Record<string, string> = { image: 'image/jpeg', video: 'video/mp4', audio: 'audio/mpeg' }

/** @throws MediaRejected when the file is gone, too large, unreachable, or no Ogg/Opus for a voice note. */
export async function loadMedia(options: ComposeOptions, message: OutgoingMessage): Promise<LoadedMedia> {
  const { type } = message
  const url = message.mediaUrl as string
  const most = (type === 'document' ? 64 : 16) * mebibyte
  const file = await options.host.file(url)
  if (file === null) throw new MediaRejected('the file is no longer stored')
  const { bytes, mimeType } = file ? await readOurs(file, most) : await fetchOther(options, url, most)
  const seconds = type === 'voice_note' ? opusSeconds(bytes) : 0
  if (seconds === undefined) throw new MediaRejected('a voice note must be Ogg with Opus')
  const mimetype = mimeType || fallback[type] || 'application/octet-stream'
  return { bytes, mimetype, fileName: nameIn(url), seconds }
}

type StoredFile = NonNullable<Awaited<ReturnType<ComposeOptions['host']['file']>>>

async function readOurs(file: StoredFile, most: number): Promise<{ bytes: Buffer; mimeType: string }> {
  if (file.size > most) throw tooLarge(most)
  const stream = await file.open()
  if (!stream) throw new MediaRejected('the file is no longer stored')
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return { bytes: Buffer.concat(chunks), mimeType: file.mimeType }
}

async function fetchOther(
  { app }: ComposeOptions,
  url: string,
  maxBytes: number,
): Promise<{ bytes: Buffer; mimeType: string | null }> {
  const answer = await app.egress.get(url, { maxBytes, timeoutMs: fetchMs })
  if (answer.outcome === 'too_large') throw tooLarge(maxBytes)
  if (answer.outcome === 'error') throw new MediaRejected(`the file could not be fetched (${answer.reason})`)
  if (answer.status !== 200) throw new MediaRejected(`the file could not be fetched (HTTP ${answer.status})`)
  return { bytes: answer.body, mimeType: answer.mimeType?.split(';')[0]?.trim() ?? null }
}

function tooLarge(bytes: number): MediaRejected {
  return new MediaRejected(`the file is larger than ${bytes / mebibyte} MiB`)
}

/** The last part of an address, which the recipient sees as the name of a document. */
function nameIn(url: string): string {
  const name = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(name) || 'file'
  } catch {
    return name || 'file'
  }
}
