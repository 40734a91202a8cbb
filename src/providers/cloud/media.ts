// Files of messages: one of ours is uploaded once for each number and used again; any other is fetched by Meta from its address.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { untilStored } from '../../core/database/until-stored.ts'
import { inTime } from '../../core/time-limit.ts'
import { faultOfFile, goneText, type OutgoingMessage, type SendOutcome } from '../outgoing.ts'
import type { StoredFile } from '../provider.ts'
import type { FileReference } from './bodies.ts'
import { unavailable } from './errors.ts'
import { type GraphAnswer, graph } from './graph.ts'
import { cloudHost } from './host.ts'
import { claimUpload, forgetUpload, readUpload, releaseUpload, storeUpload, type Upload } from './media.sql.ts'
import type { CloudInstance } from './settings.ts'
import { createWaits } from './waits.ts'

/** The file as the body names it; none for a message without one; an outcome if the message cannot be sent now, or at all. */
type Resolved = { file: FileReference | undefined } | { outcome: SendOutcome } | { answer: GraphAnswer }

export interface Media {
  resolve: (instance: CloudInstance, message: OutgoingMessage) => Promise<Resolved>
  /** Meta refused the message: if it names an upload, the next one uploads the file again. */
  forget: (instance: CloudInstance, message: OutgoingMessage, file: FileReference | undefined) => Promise<void>
}

/** Longest time to look a file up: a silent database must not use up the 8 s of a message, after which its outcome counts as unknown. */
const lookUpMs = 2_000
export const tooSlow = () => new Error('the database takes too long')
/** Longest time that a message waits for the upload of its file. An upload that takes longer goes on, and the message is tried later. */
const uploadWaitMs = 3_000
const uploadMs = 60_000
const leaseMs = 75_000
const againMs = 500

/** The store has the row of the file, and not its bytes. */
interface Gone {
  is: 'gone'
}

/** Meta's id of the file, or why there is none. */
type Uploaded = string | GraphAnswer | Gone

export function createMedia(app: App): Media {
  const uploads = new Map<string, Promise<Uploaded | undefined>>()
  /** Of files whose upload failed without an answer of Meta. */
  const waits = createWaits()

  async function resolve(instance: CloudInstance, message: OutgoingMessage): Promise<Resolved> {
    const { mediaUrl, type } = message
    if (mediaUrl === null) return { file: undefined }
    const { phoneNumberId } = instance.settings
    const { file, known } = await inTime(lookUpMs, lookUp(phoneNumberId, mediaUrl), tooSlow)
    if (file === undefined) return { file: { link: mediaUrl } }
    if (file === null) return rejected(goneText)
    const fault = faultOfFile(type, file.mimeType)
    if (fault) return rejected(`the file ${fault}`)
    if (known) return { file: { id: known, extension: file.extension } }
    const upload = { phoneNumberId, mediaId: file.id }
    const key = keyOf(upload)
    const waitMs = waits.left(key)
    if (waitMs > 0) return later(waitMs)
    const uploaded = await Promise.race([once(instance, upload, file), pause(uploadWaitMs, undefined, { ref: false })])
    if (uploaded === undefined) return later(againMs)
    if (typeof uploaded === 'string') {
      waits.end(key)
      return { file: { id: uploaded, extension: file.extension } }
    }
    if (uploaded.is === 'gone') return rejected(goneText)
    return isLost(uploaded) ? later(waits.next(key, unavailable)) : { answer: uploaded }
  }

  /** The file behind the address, and Meta's id of it if it was uploaded for the number. */
  async function lookUp(phoneNumberId: string, mediaUrl: string) {
    const file = await cloudHost(app).file(mediaUrl)
    return { file, known: file ? await readUpload(app.pool, { phoneNumberId, mediaId: file.id }) : undefined }
  }

  /** Messages of this process share an upload. Undefined if another process is at it. */
  async function once(instance: CloudInstance, upload: Upload, file: StoredFile): Promise<Uploaded | undefined> {
    const key = keyOf(upload)
    const running = uploads.get(key)
    if (running) return await running
    const token = randomUUID()
    const uploaded = claimAndTransfer(instance, upload, file, token)
    uploads.set(key, uploaded)
    return await uploaded.finally(() => uploads.delete(key))
  }

  /** If it throws, the lease is given up, also one whose claim was not answered: every message with the file would wait for its end. */
  async function claimAndTransfer(
    instance: CloudInstance,
    upload: Upload,
    file: StoredFile,
    token: string,
  ): Promise<Uploaded | undefined> {
    try {
      return (await claimUpload(app.pool, upload, token, leaseMs)) ? await transfer(instance, upload, file, token) : undefined
    } catch (error) {
      const released = untilStored(app, () => releaseUpload(app.pool, upload, token))
      released.catch((err: Error) => app.log.warn({ err: err.message }, 'an upload to Meta ends with its lease'))
      throw error
    }
  }

  async function transfer(instance: CloudInstance, upload: Upload, file: StoredFile, token: string): Promise<Uploaded> {
    const answer = await send(instance, file)
    const graphId = answer.is === 'done' ? answer.body.id : undefined
    if (typeof graphId === 'string') {
      await untilStored(app, () => storeUpload(app.pool, upload, token, graphId))
      return graphId
    }
    await untilStored(app, () => releaseUpload(app.pool, upload, token))
    return answer.is === 'done' ? { is: 'lost' } : answer
  }

  async function send({ settings }: CloudInstance, file: StoredFile): Promise<GraphAnswer | Gone> {
    const bytes = await file.open()
    if (!bytes) return { is: 'gone' }
    const boundary = `file-${randomUUID()}`
    const field = (name: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const head = Buffer.from(
      `${field('messaging_product', 'whatsapp')}${field('type', file.mimeType)}--${boundary}\r\n` +
        `Content-Disposition: form-data; name="file"; filename="file.${file.extension}"\r\nContent-Type: ${file.mimeType}\r\n\r\n`,
    )
    const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
    async function* parts(): AsyncGenerator<Uint8Array> {
      yield head
      yield* bytes as AsyncIterable<Uint8Array>
      yield tail
    }
    try {
      return await graph(app).call({
        method: 'POST',
        path: `${settings.phoneNumberId}/media`,
        accessToken: settings.accessToken,
        timeoutMs: uploadMs,
        stream: {
          type: `multipart/form-data; boundary=${boundary}`,
          length: head.length + file.size + tail.length,
          bytes: parts(),
        },
      })
    } finally {
      bytes.destroy()
    }
  }

  return {
    resolve,
    async forget({ settings }, { mediaUrl }, reference) {
      if (!mediaUrl || !reference || !('id' in reference)) return
      const file = await cloudHost(app).file(mediaUrl)
      if (file) await forgetUpload(app.pool, { phoneNumberId: settings.phoneNumberId, mediaId: file.id }, reference.id)
    },
  }
}

/** A proxy that gives up on an upload may say so. */
function isLost(answer: GraphAnswer): boolean {
  return answer.is === 'lost' || (answer.is === 'bare' && answer.status === 408)
}

function rejected(detail: string): Resolved {
  return { outcome: { outcome: 'refused', error: 'MEDIA_REJECTED', detail, byGateway: true } }
}

/** Nothing was sent yet, so the wait counts as no attempt. Later messages to the recipient wait too, which keeps their order. */
function later(afterMs: number): Resolved {
  const detail = 'the file is being uploaded'
  return { outcome: { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', detail, afterMs, holds: { of: 'recipient' } } }
}

function keyOf({ phoneNumberId, mediaId }: Upload): string {
  return `${phoneNumberId} ${mediaId}`
}
