// Detects the type of a file by its content alone. The type that a caller declares is ignored.
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { type MediaType, mediaTypes } from './kinds.ts'

/** Alternative names of accepted types. */
const aliases: Record<string, string> = { 'audio/x-m4a': 'audio/mp4', 'audio/x-aac': 'audio/aac' }

/**
 * Types that are not accepted, with two-character signatures that a text may contain too: `BM` as in `BMI;Age`, `MZ`, `%!`, and two `G`
 * at fixed offsets.
 */
const alikeText = new Set(['image/bmp', 'application/x-msdownload', 'application/postscript', 'video/mp2t'])

/** Returns the type of the file at `path`, undefined if it is not accepted. Archives are inspected, not unpacked. */
export async function sniff(path: string): Promise<MediaType | undefined> {
  const { FileTypeParser } = await import('file-type')
  const found = (await new FileTypeParser().fromFile(path))?.mime
  if (found === 'application/x-cfb') return mediaTypes.get((await typeOfCompound(path)) ?? '')
  if (found && !alikeText.has(found)) return mediaTypes.get(aliases[found] ?? found)
  return (await isText(path)) ? mediaTypes.get('text/plain') : undefined
}

/** The programs that write compound files, by the CLSID of the root entry as stored in the file. */
const programs: Record<string, string> = {
  '0609020000000000c000000000000046': 'application/msword',
  '2008020000000000c000000000000046': 'application/vnd.ms-excel',
  '108d81649b4fcf1186ea00aa00b929e8': 'application/vnd.ms-powerpoint',
}

/** Sector size in bytes, by the exponent in the header. The format has no others, but a file may contain any value. */
const sectorSizes: ReadonlyMap<number, number> = new Map([
  [9, 512],
  [12, 4096],
])

/** Word, Excel and PowerPoint before 2007 share one format. The first entry of its directory identifies the program. */
async function typeOfCompound(path: string): Promise<string | undefined> {
  await using file = await open(path)
  const header = await bytesAt(file, 0, 512)
  const sectorBytes = sectorSizes.get(header.readUInt16LE(30))
  if (sectorBytes === undefined) return undefined
  const root = await bytesAt(file, (header.readUInt32LE(48) + 1) * sectorBytes, 128)
  return programs[root.toString('hex', 80, 96)]
}

/** Bytes beyond the end of the file are zero. */
async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer
}

// Tabs, line breaks and form feeds belong to text. Escape does too, in logs of terminals.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const control = /[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/

/** True if the whole file is UTF-8 without control characters. */
async function isText(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of createReadStream(path)) {
      if (control.test(decoder.decode(chunk as Buffer, { stream: true }))) return false
    }
    decoder.decode()
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
