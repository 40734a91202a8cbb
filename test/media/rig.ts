// Setup for tests of media: a file of each supported type, built byte by byte, and functions that upload files.
import { readdirSync, readlinkSync } from 'node:fs'
import path from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import { expect } from 'vitest'
import type { Answer } from '../kit/api.ts'
import { expectDocumented } from '../kit/document.ts'

export interface Sent {
  /** The name of the part; `file` by default. */
  field?: string
  filename?: string
  /** The content type that the part declares. */
  type?: string
  headers?: Record<string, string>
}

/** Matches the public URL of a file at the gateway. */
export function publicUrl(gateway: { url: string }, extension: string): string {
  return expect.stringMatching(new RegExp(`^${gateway.url}/media/[\\w-]{43}\\.${extension}$`))
}

/** Returns the number of media files that a gateway in this process holds open. */
export function openFiles(dataDir: string): number {
  const held = '/proc/self/fd'
  const files = readdirSync(held).map((fd) => {
    try {
      return readlinkSync(path.join(held, fd))
    } catch {
      return 'closed'
    }
  })
  return files.filter((file) => file.startsWith(path.join(dataDir, 'media'))).length
}

/** Posts a form with one file. */
export async function upload(
  gateway: { url: string },
  apiKey: string,
  content: Uint8Array | string,
  { field = 'file', filename = 'a file', type = 'application/octet-stream', headers = {} }: Sent = {},
): Promise<Answer> {
  const form = new FormData()
  form.append(field, new Blob([content as BlobPart], { type }), filename)
  return await post(gateway, apiKey, form, headers)
}

/** Posts any body. */
export async function post(
  gateway: { url: string },
  apiKey: string,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const init = { method: 'POST', body, headers: { 'x-api-key': apiKey, ...headers }, duplex: 'half' }
  const response = await fetch(new URL('/api/v1/media', gateway.url), init)
  const answer = { status: response.status, headers: response.headers, body: await response.json() }
  expectDocumented({ method: 'POST', path: '/api/v1/media', ...answer })
  return answer
}

/** A form as raw text, for forms that `FormData` would not write. */
export function rawForm(content: string, disposition: string, boundary = 'b'): { body: string; headers: Record<string, string> } {
  const body = `--${boundary}\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n--${boundary}--\r\n`
  return { body, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }
}

const bytes = (...parts: (string | number[] | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))

/** A ZIP archive of these files, compressed or not. Each entry declares `saidBytes` as its unpacked size, if that is given. */
export function zip(files: Record<string, string | Uint8Array>, how: { deflate?: boolean; saidBytes?: number } = {}): Buffer {
  const entries = Object.entries(files).map(([name, content]) => {
    const data = how.deflate ? deflateRawSync(content) : Buffer.from(content)
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50)
    header.writeUInt16LE(20, 4)
    if (how.deflate) header.writeUInt16LE(8, 8)
    header.writeUInt32LE(crc32(content), 14)
    header.writeUInt32LE(data.length, 18)
    header.writeUInt32LE(how.saidBytes ?? content.length, 22)
    header.writeUInt16LE(name.length, 26)
    return { name, data, header }
  })
  let offset = 0
  const directory = entries.map(({ name, data, header }) => {
    const record = Buffer.alloc(46)
    record.writeUInt32LE(0x02014b50)
    header.copy(record, 6, 4, 30)
    record.writeUInt32LE(offset, 42)
    offset += header.length + name.length + data.length
    return bytes(record, name)
  })
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  return bytes(...entries.flatMap(({ name, data, header }) => [header, name, data]), ...directory, end)
}

/** An Office document in the format used since 2007; `part` is `wordprocessingml.document` or similar. */
function openXml(part: string, folder: string): Buffer {
  const type = `application/vnd.openxmlformats-officedocument.${part}.main+xml`
  return zip({
    '[Content_Types].xml': `<Types><Override PartName="/${folder}/a.xml" ContentType="${type}"/></Types>`,
    [`${folder}/a.xml`]: '<a/>',
  })
}

/**
 * An Office document in the format used before 2007: a compound file with a root entry that names its program by `classId`, in
 * the byte order of the file. Its header declares sectors of 2 to the power of `shift` bytes.
 */
export function compound(classId: string, shift = 9): Buffer {
  const root = shift === 12 ? 8192 : 1024
  const file = Buffer.alloc(root + 512)
  file.write('d0cf11e0a1b11ae1', 'hex')
  file.writeUInt16LE(shift, 30)
  file.writeUInt32LE(1, 48)
  file.write('Root Entry', root, 'utf16le')
  file.write(classId, root + 80, 'hex')
  return file
}

function ogg(codec: string): Buffer {
  return bytes('OggS', [0, 2], new Uint8Array(20), [1, 19], codec, new Uint8Array(32))
}

/** A file of each type, by its MIME type. */
export const samples: Record<string, Buffer> = {
  'image/jpeg': bytes([0xff, 0xd8, 0xff, 0xe0, 0, 16], 'JFIF', new Uint8Array(64)),
  'image/png': bytes(
    [0x89],
    'PNG\r\n',
    [0x1a, 0x0a],
    [0, 0, 0, 13],
    'IHDR',
    new Uint8Array(17),
    [0, 0, 0, 0],
    'IDAT',
    [0, 0, 0, 0],
  ),
  'image/webp': bytes('RIFF', [36, 0, 0, 0], 'WEBPVP8 ', new Uint8Array(32)),
  'image/gif': bytes('GIF89a', new Uint8Array(32)),
  'video/mp4': bytes([0, 0, 0, 24], 'ftypisom', new Uint8Array(48)),
  'video/3gpp': bytes([0, 0, 0, 24], 'ftyp3gp4', new Uint8Array(48)),
  'audio/mpeg': bytes([0xff, 0xfb, 0x90, 0x64], new Uint8Array(512)),
  'audio/mp4': bytes([0, 0, 0, 24], 'ftypM4A ', new Uint8Array(48)),
  'audio/aac': bytes([0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc], new Uint8Array(64)),
  'audio/amr': bytes('#!AMR\n', new Uint8Array(64)),
  'audio/ogg': ogg('\x01vorbis'),
  'audio/ogg; codecs=opus': ogg('OpusHead'),
  'application/pdf': bytes('%PDF-1.7\n', new Uint8Array(64)),
  'application/msword': compound('0609020000000000c000000000000046'),
  'application/vnd.ms-excel': compound('2008020000000000c000000000000046'),
  'application/vnd.ms-powerpoint': compound('108d81649b4fcf1186ea00aa00b929e8'),
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': openXml('wordprocessingml.document', 'word'),
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': openXml('spreadsheetml.sheet', 'xl'),
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': openXml('presentationml.presentation', 'ppt'),
  'text/plain': Buffer.from('Grüße\tan alle\r\n'),
}

/** Pads the sample of a type to `size` bytes. */
export function sized(type: string, size: number): Buffer {
  const sample = samples[type] as Buffer
  return Buffer.concat([sample, Buffer.alloc(Math.max(0, size - sample.length), type === 'text/plain' ? 'x' : 0)])
}
