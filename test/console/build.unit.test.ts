// Proves what the build of the console promises: its size, its styles, and that every language says the same.
import { globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtFolder, type Manifest, readManifest } from '../../src/console/manifest.ts'
import { retryAfterMs } from '../../src/console/web/live/retry.ts'
import { momentIn } from '../../src/console/web/send/input.ts'

const web = path.join(builtFolder, '../web')
const manifest = readManifest() as Manifest

/** The bytes of files with that ending, compressed by gzip: on plain http, browsers accept nothing better. */
function zipped(names: readonly string[], ending: string): number {
  return names.filter((name) => name.endsWith(ending)).reduce((sum, name) => sum + (manifest.assets[name]?.gzip ?? Number.NaN), 0)
}

describe('the budget', () => {
  const pages = Object.entries(manifest.pages)
  const list = manifest.pages['messages/messages.tsx'] as string[]
  /** The largest language in that folder. */
  const wordsIn = (folder: string) =>
    Math.max(
      0,
      ...pages
        .filter(([source]) => source.match(`^${folder}/(words-)?(en|pt-br)\\.ts$`))
        .map(([, names]) => zipped(names, '.js')),
    )

  it('allows the first load of Messages 150 KB of JavaScript and 15 KB of styles', () => {
    expect(zipped([...manifest.first, ...list], '.js') + wordsIn('words')).toBeLessThanOrEqual(150_000)
    expect(zipped([...manifest.first, ...list], '.css')).toBeLessThanOrEqual(15_000)
  })

  it.each(pages.filter(([source]) => source.endsWith('.tsx')))('allows %s 20 KB more, its words among them', (source, names) => {
    expect(zipped(names, '.js') + zipped(names, '.css') + wordsIn(path.dirname(source))).toBeLessThanOrEqual(20_000)
  })
})

describe('the styles', () => {
  const files = readdirSync(web, { recursive: true, encoding: 'utf8' }).map((name) => path.join(web, name))
  const scripts = files.filter((name) => /\.tsx?$/.test(name)).map((name) => [name, readFileSync(name, 'utf8')] as const)
  const modules = files.filter((name) => name.endsWith('.module.css'))

  it.each(modules.map((name) => [path.relative(web, name), name] as const))(
    'of %s have each class that is used, and no other',
    (_, file) => {
      const css = readFileSync(file, 'utf8')
      const defined = new Set([...css.matchAll(/\.([a-zA-Z][\w-]*)(?=[^{}]*\{)/g)].map(([, name]) => name as string))
      const used = new Set<string>()
      for (const [name, text] of scripts) {
        for (const [, local, from] of text.matchAll(/import (\w+) from '(\.[^']+\.module\.css)'/g)) {
          if (path.join(path.dirname(name), from as string) !== file) continue
          for (const [, key] of text.matchAll(new RegExp(`[^/]\\b${local}\\.(\\w+)`, 'g'))) used.add(key as string)
          // `styles[status]`: each value of it has a class.
          if (new RegExp(`\\b${local}\\[`).test(text)) for (const key of defined) used.add(key)
        }
      }
      expect([...used].filter((key) => !defined.has(key))).toEqual([])
      expect([...defined].filter((key) => !used.has(key))).toEqual([])
    },
  )
})

it('the styles use no value that is not defined', () => {
  const sheets = globSync('**/*.css', { cwd: web }).map((name) => readFileSync(path.join(web, name), 'utf8'))
  const all = sheets.join('\n')
  const defined = new Set([...all.matchAll(/(--[\w-]+):/g)].map(([, name]) => name))
  expect([...all.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name).filter((name) => !defined.has(name))).toEqual([])
})

const wordFiles = globSync('**/{words-en,en}.ts', { cwd: web })

it.each(wordFiles)('every language has all words of %s, and none that English lacks', async (file) => {
  const keys = (words: object): string[] =>
    Object.entries(words).flatMap(([key, value]) =>
      typeof value === 'object' ? keys(value).map((below) => `${key}.${below}`) : [key],
    )
  const read = async (name: string): Promise<object> => Object.values(await import(path.join(web, name)))[0] as object
  expect(keys(await read(file.replace(/en\.ts$/, 'pt-br.ts')))).toEqual(keys(await read(file)))
})

it('the pause before a new stream is short at first, and at most 30 s', () => {
  const longest = (failures: number) => retryAfterMs(failures, () => 1)
  expect([longest(0), longest(1), longest(40)]).toEqual([500, 1_500, 1_500])
  expect(longest(1_000)).toBe(30_000)
  expect(retryAfterMs(1, () => 0)).toBeGreaterThan(0)
})

it.each([
  ['Asia/Kathmandu', '2026-11-24T05:45', '2026-11-24T00:00:00.000Z'],
  ['America/St_Johns', '2026-11-24T05:45', '2026-11-24T09:15:00.000Z'],
  ['Europe/Berlin', '2026-03-29T01:59', '2026-03-29T00:59:00.000Z'],
  ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
  ['America/New_York', '2026-03-08T01:30', '2026-03-08T06:30:00.000Z'],
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30:00.000Z'],
  ['America/New_York', '2026-03-08T03:30', '2026-03-08T07:30:00.000Z'],
  ['UTC', '2026-11-24T05:45', '2026-11-24T05:45:00.000Z'],
  ['UTC', 'soon', 'soon'],
])('a time is read in the zone that is shown: %s %s', (zone, local, moment) => {
  expect(momentIn(zone, local)).toBe(moment)
})
