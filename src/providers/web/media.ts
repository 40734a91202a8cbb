// Files of outgoing messages as streams, because a process may send hundreds of 64 MiB at a time: ours are read from the store, others are
// fetched through the guard against private networks.
import { Readable } from 'node:stream'
import { EgressError } from '../../core/network/egress-fault.ts'
import { goneText, type OutgoingMessage } from '../outgoing.ts'
import type { StoredFile } from '../provider.ts'
import type { ComposeOptions } from './composing.ts'
import { opusSeconds } from './opus.ts'

/** The file of a message cannot be used, and never will. The message says why. */
export class MediaRejected extends Error {}

export interface OpenedMedia {
  /** Reading it throws MediaRejected when the file turns out to be too large or its host fails. */
  stream: Readable
  mimetype: string
  fileName: string
}

const mebibyte = 1024 * 1024
const fetchMs = 5_000
/** The types of hosts that do not know the type of a file, as buckets do where an upload named none. */
const unknownTypes: readonly string[] = ['application/octet-stream', 'binary/octet-stream']
/** Types that the network takes where the host of the file knows none. */
const fallback: Record<string, string> = { image: 'image/jpeg', video: 'video/mp4', audio: 'audio/mpeg' }

/** The caller reads the stream at once. @throws MediaRejected when the file is gone, too large or unreachable. */
export async function openMedia(options: ComposeOptions, { type, mediaUrl }: OutgoingMessage): Promise<OpenedMedia> {
  const url = mediaUrl as string
  const most = (type === 'document' ? 64 : 16) * mebibyte
  const file = await options.host.file(url)
  if (file === null) return rejected(goneText)
  const { chunks, mimeType } = file ? openOurs(file, most) : await openOther(options, url, most)
  const mimetype = mimeType || fallback[type] || 'application/octet-stream'
  return { stream: Readable.from(chunks), mimetype, fileName: nameIn(url) }
}

/** The length of a voice note in seconds. Reads the file once from end to end. @throws MediaRejected as {@link openMedia}, or when it is no Ogg/Opus. */
export async function lengthOf(options: ComposeOptions, message: OutgoingMessage): Promise<number> {
  const { stream } = await openMedia(options, message)
  return (await opusSeconds(stream)) ?? rejected('a voice note must be Ogg with Opus')
}

interface Chunks {
  chunks: AsyncIterable<Uint8Array>
  mimeType: string | null
}

function openOurs(file: StoredFile, most: number): Chunks {
  if (file.size > most) throw tooLarge(most)
  return { chunks: readOurs(file), mimeType: file.mimeType }
}

/** Opens the file when it is read, so that a message that does not leave leaves nothing open. */
async function* readOurs(file: StoredFile): AsyncGenerator<Uint8Array> {
  yield* (await file.open()) ?? rejected(goneText)
}

async function openOther({ app }: ComposeOptions, url: string, most: number): Promise<Chunks> {
  const answer = await app.egress.open(url, { timeoutMs: fetchMs })
  if (answer.outcome === 'error') throw notFetched(answer.reason)
  if (answer.status !== 200) throw notFetched(`HTTP ${answer.status}`)
  const mimeType = answer.mimeType?.split(';')[0]?.trim() ?? ''
  return { chunks: atMost(answer.body, most, answer.bytes ?? 0), mimeType: unknownTypes.includes(mimeType) ? null : mimeType }
}

/** Reads no further than the first chunk of a file whose host declares that it is too large. */
async function* atMost(chunks: AsyncIterable<Uint8Array>, most: number, declared: number): AsyncGenerator<Uint8Array> {
  let length = 0
  try {
    for await (const chunk of chunks) {
      length += chunk.length
      if (Math.max(length, declared) > most) throw tooLarge(most)
      yield chunk
    }
  } catch (error) {
    throw error instanceof EgressError ? notFetched(error.code) : error
  }
}

function rejected(reason: string): never {
  throw new MediaRejected(reason)
}

function notFetched(reason: string): MediaRejected {
  return new MediaRejected(`the file could not be fetched (${reason})`)
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
