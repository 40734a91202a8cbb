// README.md is true: what it points at exists, what it counts is what the code counts.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { routes } from '../../rest-compat/routes.ts'
import { configTable } from '../../src/cli/config-table.ts'
import { maxPageSize } from '../../src/core/graph/pagination.ts'
import { maxStreamsOfKey } from '../../src/events/log/places.ts'
import { limits } from '../../src/http/graphql-limits.ts'
import { mediaTypes } from '../../src/media/kinds.ts'
import { scriptFor } from '../../src/providers/sandbox/script.ts'
import { command, root } from '../kit/kit.ts'
import { readme } from './readme-blocks.ts'

/** The table of a section, a list of cells for each row. */
function cellsAfter(heading: string): string[][] {
  const table = readme.slice(readme.indexOf(heading)).match(/(^\|.*\n)+/m)?.[0] ?? ''
  const rows = table.trim().split('\n').slice(2)
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

describe('what README says', () => {
  it('of the configuration is what the code prints', () => {
    const printed = readme.match(/<!-- configuration: .*-->\n([\s\S]*?)\n<!-- \/configuration -->/)?.[1]
    expect(printed, 'paste what `npm run -s gateway -- config` prints').toBe(configTable())
  })

  it('of the routes is what there is', () => {
    const told = [...readme.matchAll(/`(GET|POST|PUT|DELETE) (\/[^`? ]*)`/g)].map(([, method, at]) => `${method} ${at}`)
    const served = routes.filter(({ surfaces }) => surfaces.includes('public')).map((route) => `${route.method} ${route.path}`)
    const others = ['GET /events/stream', 'GET /openapi.json', 'GET /livez', 'GET /readyz', 'GET /metrics']
    expect([...new Set(told)].sort()).toEqual([...served, ...others].sort())
  })

  it('of the limits is what the code enforces', () => {
    const [told] = readme.match(/\| GraphQL operation \|.*\|/) ?? []
    const numbers = (told?.match(/[\d,]+(?= )|[\d,]+\d/g) ?? []).map((number) => Number(number.replace(',', '')))
    for (const limit of Object.values(limits)) expect(numbers).toContain(limit)
    expect(readme).toContain(`| Page | ${maxPageSize} items |`)
    expect(readme).toContain(`| Streams of one key, in one process | ${maxStreamsOfKey} |`)
  })

  it('of the files is what is taken', () => {
    const told = cellsAfter('## Files').map(([kind, types, most]) => [
      kind,
      types?.split(', ').length,
      Number.parseInt(most ?? '', 10),
    ])
    const kinds = Map.groupBy([...mediaTypes.values()], ({ name }) => name.split(' ')[1] as string)
    // Word, Excel and PowerPoint are one format before 2007 and another since; Ogg has two names.
    const twice: Record<string, number> = { audio: 1, document: 3 }
    const taken = [...kinds].map(([kind, types]) => [
      kind,
      types.length - (twice[kind] ?? 0),
      (types[0]?.maxBytes ?? 0) / 1024 ** 2,
    ])
    expect(told).toEqual(taken)
  })

  it('of the sandbox is what it does', () => {
    const told = cellsAfter('## The sandbox').map(([number]) => number?.replaceAll('`', '') as string)
    const ordinary = JSON.stringify(scriptFor('+4915112345678'))
    const special = Array.from({ length: 10_000 }, (_, i) => String(i).padStart(4, '0'))
    expect(told).toEqual(special.filter((digits) => JSON.stringify(scriptFor(`+491511234${digits}`)) !== ordinary))
  })

  it('of the words of the house has every one of them', () => {
    const words = cellsAfter('## Glossary').map(([word]) => word)
    const needed = [
      'message',
      'recipient',
      'instance',
      'provider',
      'campaign',
      'event',
      'delivery',
      'attempt',
      'endpoint',
      'workspace',
    ]
    expect(words).toEqual(expect.arrayContaining(needed))
  })
})

describe('what README points at', () => {
  it('exists: files and sections', () => {
    const targets = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target as string)
    const files = targets.filter((target) => !/^(https:|#)/.test(target))
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
    const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, text]) => `#${text?.toLowerCase().replaceAll(' ', '-')}`)
    expect(targets.filter((target) => target.startsWith('#') && !headings.includes(target))).toEqual([])
    expect(targets.length).toBeGreaterThan(10)
  })

  it('exists: scripts', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
    const named = [...readme.matchAll(/npm (?:run (?:-s )?)?([a-z:]+)/g)].map(([, name]) => name as string)
    expect(named.filter((name) => !['ci', 'install'].includes(name) && !(name in scripts))).toEqual([])
  })

  it('exists: commands of the gateway, with their options', async () => {
    const named = [...readme.matchAll(/gateway -- ((?:[a-z-]+ ?)+?)((?: ?--[a-z]+(?: [\w.@]+)?)*)`/g)]
    expect(named.length).toBeGreaterThan(9)
    const told = new Map(named.map(([, words, options]) => [words?.trim() as string, options?.match(/--[a-z]+/g) ?? []]))
    const answers = [...told].map(async ([words, options]) => {
      const { code, stdout } = await command([...words.split(' '), '--help'])
      expect(code, words).toBe(0)
      expect(stdout, words).toContain(`Usage: gateway ${words} `)
      for (const option of options) expect(stdout, words).toContain(option)
    })
    await Promise.all(answers)
  })
})
