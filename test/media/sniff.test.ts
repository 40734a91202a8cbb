// Types of files are read from their content, and only the types that messaging networks accept are accepted.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { mediaTypes } from '../../src/media/kinds.ts'
import { sniff } from '../../src/media/sniff.ts'
import { allowed, measuredAgain } from '../kit/measured.ts'
import { compound, samples, zip } from './rig.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-test-types-'))
const file = path.join(folder, 'file')

afterAll(() => rmSync(folder, { recursive: true }))

async function typeOf(content: string | Uint8Array): Promise<string | undefined> {
  writeFileSync(file, content)
  return (await sniff(file))?.mimeType
}

describe('a file', () => {
  it.each(Object.entries(samples))('of %s is recognized by its content', async (type, content) => {
    expect(await typeOf(content)).toBe(type)
  })

  it('of Word is recognized by its content even if its sectors are large', async () => {
    expect(await typeOf(compound('0609020000000000c000000000000046', 12))).toBe('application/msword')
  })

  it('of every accepted type is among the samples', () => {
    expect(Object.keys(samples).sort()).toEqual([...mediaTypes.keys()].sort())
  })

  it.each<[string, string | Uint8Array]>([
    ['a program', Buffer.from('\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0', 'latin1')],
    ['a program of Windows', Buffer.from('MZ\x90\0\x03\0\0\0', 'latin1')],
    ['an archive', zip({ 'a.txt': 'hello' })],
    ['a compressed file', gzipSync('hello')],
    ['a film of QuickTime', Buffer.from('\0\0\0\x14ftypqt  \0\0\0\0qt  ', 'latin1')],
    ['a bitmap', Buffer.concat([Buffer.from('BM'), Buffer.alloc(64)])],
    ['XML', '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['a Java archive', zip({ 'META-INF/MANIFEST.MF': 'Manifest-Version: 1.0' })],
    ['an OpenDocument', zip({ mimetype: 'application/vnd.oasis.opendocument.text' })],
    [
      'a document with macros',
      zip({ '[Content_Types].xml': 'ContentType="application/vnd.ms-word.document.macroEnabled.main+xml"' }),
    ],
    ['a compound file of nobody', Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(1500)])],
    ['a compound file that is cut off', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['a compound file whose sectors are larger than any disk', compound('0609020000000000c000000000000046', 0xffff)],
    ['zeros', Buffer.alloc(5000)],
    ['noise', Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919 + 131) % 251))],
    ['UTF-16', Buffer.from('\ufeffhello', 'utf16le')],
    ['Latin-1', Buffer.from('gr\xfc\xdfe an alle', 'latin1')],
    ['text with a NUL', 'hello\0there'],
    ['text that ends inside a letter', Buffer.from('grüße').subarray(0, 3)],
    ['text with a bell', 'hello\x07'],
  ])('that is %s is refused', async (_, content) => {
    expect(await typeOf(content)).toBeUndefined()
  })

  it.each<[string, string | Uint8Array]>([
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['JavaScript', 'alert(1)'],
    ['CSV', 'a;b\n1;2\n'],
    ['CSV that begins as a bitmap does', 'BMI;Age\n21.5;40\n'],
    ['text that begins as a program does', 'MZ is a district code of Mainz'],
    ['text that begins as PostScript does', '%!TEX root = main.tex\n'],
    ['text with the letters of a stream in their places', `G${'x'.repeat(187)}G${'x'.repeat(400)}`],
    ['one letter', 'x'],
    ['text with a byte order mark', '\ufeffhello'],
    ['text of many parts, cut inside letters', 'ß€𝄞'.repeat(30_000)],
    ['a log with colours', '\x1b[31mred\x1b[0m\n'],
  ])('that is %s counts as plain text, which is never shown inline', async (_, content) => {
    expect(await typeOf(content)).toBe('text/plain')
    expect(mediaTypes.get('text/plain')?.inline).toBe(false)
  })

  it.each<[string, Uint8Array, string]>([
    ['GIF and HTML', Buffer.from('GIF89a/*<html><script>alert(1)</script>*/'), 'image/gif'],
    ['JPEG and PHP', Buffer.concat([samples['image/jpeg'] as Buffer, Buffer.from('<?php system(1) ?>')]), 'image/jpeg'],
    ['PDF and ZIP', Buffer.concat([samples['application/pdf'] as Buffer, zip({ a: 'x' })]), 'application/pdf'],
  ])('that is both %s has the type of its beginning', async (_, content, type) => {
    expect(await typeOf(content)).toBe(type)
  })

  it('may be shown inline only if it is an image, audio or video', () => {
    const shown = [...mediaTypes.values()].filter(({ inline }) => inline).map(({ mimeType }) => mimeType)
    expect(shown.filter((type) => !/^(image|audio|video)\//.test(type))).toEqual([])
    expect([...mediaTypes.keys()].filter((type) => /svg|html|xml$|script/.test(type))).toEqual([])
  })
})

describe('an archive that would fill a disk', () => {
  const types = Buffer.alloc(128 * 1024 * 1024, ' ')
  const name = '[Content_Types].xml'

  it.each<[string, Uint8Array]>([
    ['one', gzipSync(types)],
    ['one in the name of an office document', zip({ [name]: types }, { deflate: true })],
    ['one that lies about it', zip({ [name]: types }, { deflate: true, saidBytes: 100 })],
    ['one of 10,000 files', zip(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`word/${i}`, 'x'])))],
  ])('is inspected but not unpacked: %s', measuredAgain, async (_, archive) => {
    const before = process.memoryUsage().rss
    const begun = performance.now()
    expect(await typeOf(archive)).toBeUndefined()
    expect(performance.now() - begun).toBeLessThan(allowed(1_000))
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  })
})
