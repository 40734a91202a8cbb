// Streams the only file of a multipart form to disk, so that memory use does not grow with the file. The other fields are short texts.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { codeOf, fail, failure } from '../core/errors.ts'
import { maxUploadBytes } from './kinds.ts'

export interface SavedFile {
  path: string
  /** Bytes. */
  size: number
  sha256: Buffer
  /** The other fields of the form that the caller of {@link saveForm} asked for, by name. */
  fields: Readonly<Record<string, string>>
}

/** A form has one file, and possibly a few other fields. */
const limits = { parts: 20, fieldNameSize: 100, fieldSize: 16_384, headerPairs: 20, headerSize: 16_384 }
const noForm = 'body: is not valid multipart/form-data'

/**
 * Saves the part `file`, of at most `left` bytes, durably as `path`, which must not exist, and returns it with the fields `wanted`. After
 * an error, `path` may hold a part of the file.
 * @throws VALIDATION_ERROR when the form is invalid, PAYLOAD_TOO_LARGE when the body exceeds {@link maxUploadBytes},
 * MEDIA_STORAGE_EXCEEDED when the file exceeds `left`. The connection can still carry the response.
 */
export async function saveForm(
  request: IncomingMessage,
  path: string,
  left: number,
  wanted: readonly string[] = [],
): Promise<SavedFile> {
  const form = openForm(request)
  const stop = new AbortController()
  const refuse = (error: Error) => stop.abort(error)
  let part: BusboyFileStream | undefined
  let saving: Promise<Omit<SavedFile, 'fields'>> | undefined
  const fields: Record<string, string> = {}
  form.on('file', (name: string, stream: BusboyFileStream) => {
    stream.on('error', () => {})
    if (part || name !== 'file') return refuse(failure('VALIDATION_ERROR', part ? 'file: must be the only file' : onlyFile))
    part = stream
    saving = save(stream, path, left)
    saving.catch(refuse)
  })
  form.on('field', (name: string, value: string, _: boolean, isCut: boolean) => {
    if (!wanted.includes(name)) return
    if (isCut) return refuse(failure('VALIDATION_ERROR', `${name}: must have at most ${limits.fieldSize} bytes`))
    if (Object.hasOwn(fields, name)) return refuse(failure('VALIDATION_ERROR', `${name}: must be given once`))
    fields[name] = value
  })
  form.on('partsLimit', () => refuse(failure('VALIDATION_ERROR', `body: must have at most ${limits.parts} parts`)))
  try {
    await pipeline(bounded(request), form, { signal: stop.signal })
    return { ...checked(await saving), fields }
  } catch (error) {
    part?.destroy()
    await saving?.catch(() => {})
    throw faultOf((error as Error).name === 'AbortError' ? stop.signal.reason : error)
  } finally {
    // Reads and drops the rest of the body, so that the client gets to the response.
    request.resume()
  }
}

const onlyFile = 'file: is required; the form has another file instead'

function openForm({ headers }: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: headers as { 'content-type': string },
      limits,
      // The part of that name is the file, with or without a file name.
      isPartAFile: (name, _, filename) => name === 'file' || filename !== undefined,
    })
  } catch {
    fail('VALIDATION_ERROR', noForm)
  }
}

async function* bounded(request: IncomingMessage): AsyncGenerator<Buffer> {
  let received = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    received += (chunk as Buffer).length
    if (received > maxUploadBytes) fail('PAYLOAD_TOO_LARGE')
    yield chunk as Buffer
  }
}

async function save(part: Readable, path: string, left: number): Promise<Omit<SavedFile, 'fields'>> {
  const hash = createHash('sha256')
  let size = 0
  async function* measured(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > left) fail('MEDIA_STORAGE_EXCEEDED')
      hash.update(chunk)
      yield chunk
    }
  }
  // Opened first: a write stream that is destroyed while it opens would create the file after its spool was removed.
  const file = await open(path, 'wx', 0o600)
  await pipeline(part, measured, file.createWriteStream({ flush: true }))
  return { path, size, sha256: hash.digest() }
}

function checked<File extends { size: number }>(saved: File | undefined): File {
  if (!saved) return fail('VALIDATION_ERROR', 'file: is required')
  return saved.size > 0 ? saved : fail('VALIDATION_ERROR', 'file: must not be empty')
}

/** An error of the parser is the caller's fault. An error of the disk is a fault of the server. */
function faultOf(error: unknown): Error {
  const isOurs = codeOf(error) !== null || (error as NodeJS.ErrnoException).syscall !== undefined
  return isOurs ? (error as Error) : failure('VALIDATION_ERROR', noForm)
}
