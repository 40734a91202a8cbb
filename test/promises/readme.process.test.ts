// Proves that README.md and the guides are true: everything they refer to exists, and every number matches the code.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { withToken } from '../../rest-compat/openapi/words.ts'
import type { Surface } from '../../rest-compat/route.ts'
import { plans } from '../../src/billing/plans.ts'
import { configTable } from '../../src/cli/config-table.ts'
import { environment } from '../../src/core/config/environment.ts'
import { errors } from '../../src/core/errors.ts'
import { maxPageSize } from '../../src/core/graph/pagination.ts'
import { maxStreamsOfKey } from '../../src/events/live/stream-slots.ts'
import { limits } from '../../src/http/graphql-limits.ts'
import { mediaTypes } from '../../src/media/kinds.ts'
import { scriptFor } from '../../src/providers/sandbox/script.ts'
import { command } from '../kit/command.ts'
import { apiDocument } from '../kit/document.ts'
import { root } from '../kit/environment.ts'
import { guides, readme, texts } from './readme-blocks.ts'
import { sourcesOf } from './sources.ts'

const everything = [...texts.values()].join('\n')

function guide(name: string): string {
  return guides.get(`${name}.md`) as string
}

/** The first table after a heading, as a list of cells for each row. */
function cellsAfter(text: string, heading: string): string[][] {
  const table = text.slice(text.indexOf(heading)).match(/(^\|.*\n)+/m)?.[0] ?? ''
  const rows = table.trim().split('\n').slice(2)
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** All texts that the document of a surface shows before its routes. */
function shownBy(surface: Surface): string {
  const { info, tags } = apiDocument(surface) as unknown as { info: { description: string }; tags: { description: string }[] }
  return [info.description, ...tags.map(({ description }) => description)].join('\n')
}

/** `METHOD /path` of each route that a text names. */
function routesIn(text: string): string[] {
  const named = [...text.matchAll(/`(GET|POST|PUT|DELETE) (\/[^`? ]*)`/g)]
  return [...new Set(named.map(([, method, at]) => `${method} ${at?.replaceAll(/:(\w+)/g, '{$1}')}`))]
}

function routesOf(surface: Surface): string[] {
  return Object.entries(apiDocument(surface).paths).flatMap(([at, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${at}`),
  )
}

describe('the configuration table', () => {
  const printed = configTable().split('\n')

  it('is printed by `gateway config`, a row for each variable', async () => {
    const { code, stdout } = await command(['config'])
    expect([code, stdout.trimEnd()]).toEqual([0, configTable()])
    expect(readme).toContain('`npm run -s gateway -- config` prints all variables')
    const rows = printed.slice(2).map((row) => row.match(/^\| `(\w+)` \| (`.*`|) \| \S.* \|$/)?.[1])
    expect(rows).toEqual(Object.keys(environment.shape))
  })

  it('contains the variables that README names, with their defaults', () => {
    const outcome = cellsAfter(readme, '## Configuration').map(([name, fallback]) => `| ${name} | ${fallback} | `)
    expect(outcome.filter((start) => !printed.some((row) => row.startsWith(start)))).toEqual([])
    expect(outcome).toHaveLength(7)
  })
})

describe('the texts', () => {
  it('name only routes that exist on the surface of their readers', () => {
    const both = [...routesOf('public'), ...routesOf('console')]
    const others = ['GET /livez', 'GET /readyz', 'GET /metrics']
    expect(routesIn(readme).filter((route) => !both.includes(route))).toEqual(others)
    for (const surface of ['public', 'console'] as const) {
      const named = routesIn(shownBy(surface))
      expect(
        named.filter((route) => !routesOf(surface).includes(route)),
        surface,
      ).toEqual([])
      expect(named.length, surface).toBeGreaterThan(15)
    }
  })

  it('name only variables and codes that exist in the code', () => {
    const code = sourcesOf('src')
      .map(({ text }) => text)
      .join('\n')
    const named = [...everything.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/g)].map(([, name]) => name as string)
    expect([...new Set(named)].filter((name) => name !== 'WEBHOOK_SECRET' && !code.includes(name))).toEqual([])
    expect(named.length).toBeGreaterThan(30)
  })

  it('are all in the reference at /docs, each guide on the surface of its readers', () => {
    const [ofKeys, ofPeople] = [shownBy('public'), shownBy('console')]
    const lost = [...guides].filter(([, text]) => !ofKeys.includes(text.trim()) && !ofPeople.includes(withToken(text.trim())))
    expect(lost.map(([name]) => name)).toEqual([])
  })

  it('are short: at most 300 lines for README and 250 for a guide', () => {
    const lengths = [...texts].map(([name, text]) => [name, text.trimEnd().split('\n').length] as const)
    expect(lengths.filter(([name, lines]) => lines > (name === 'README.md' ? 300 : 250))).toEqual([])
  })
})

describe('the table', () => {
  it('of limits matches what the code enforces', () => {
    const text = guide('requests')
    const [outcome] = text.match(/\| GraphQL operation \|.*\|/) ?? []
    const numbers = (outcome?.match(/\d+(,\d{3})*/g) ?? []).map((number) => Number(number.replaceAll(',', '')))
    for (const limit of Object.values(limits)) expect(numbers).toContain(limit)
    expect(text).toContain(`| Page | ${maxPageSize} items |`)
    expect(text).toContain(`| Streams of one key, in one process | ${maxStreamsOfKey} |`)
  })

  it('of errors contains every status', () => {
    const outcome = cellsAfter(guide('requests'), '## Errors').flatMap(([statuses]) => statuses?.split(', ').map(Number))
    expect(outcome.sort()).toEqual([...new Set(Object.values(errors).map(({ status }) => status as number))].sort())
  })

  it('of storage matches the plans', () => {
    const outcome = plans.map(({ name, limits: { maxMediaBytes: bytes } }) => {
      return `${name} ${bytes < 1024 ** 3 ? `${bytes / 1024 ** 2} MiB` : `${bytes / 1024 ** 3} GiB`}`
    })
    expect(guide('media')).toContain(`${outcome.join(', ')}.`)
  })

  it('of file types matches what is accepted', () => {
    const outcome = cellsAfter(guide('media'), '### Accepted types').map(([kind, types, most]) => [
      kind,
      types?.split(', ').length,
      Number.parseInt(most ?? '', 10),
    ])
    const kinds = Map.groupBy([...mediaTypes.values()], ({ name }) => name.split(' ')[1] as string)
    // Word, Excel and PowerPoint have one format up to 2007 and another since; Ogg has two names.
    const twice: Record<string, number> = { audio: 1, document: 3 }
    const taken = [...kinds].map(([kind, types]) => [
      kind,
      types.length - (twice[kind] ?? 0),
      (types[0]?.maxBytes ?? 0) / 1024 ** 2,
    ])
    expect(outcome).toEqual(taken)
  })

  it('of sandbox numbers matches what the sandbox does', () => {
    const outcome = cellsAfter(guide('instances'), '### Sandbox numbers').map(([number]) => number?.replaceAll('`', '') as string)
    const ordinary = JSON.stringify(scriptFor('+4915112345678'))
    const special = Array.from({ length: 10_000 }, (_, i) => String(i).padStart(4, '0'))
    expect(outcome).toEqual(special.filter((digits) => JSON.stringify(scriptFor(`+491511234${digits}`)) !== ordinary))
  })

  it('of the glossary contains every required term', () => {
    const words = cellsAfter(guide('glossary'), '## Glossary').map(([word]) => word)
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

describe('every reference', () => {
  it('to a file or section resolves', () => {
    const targets = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target as string)
    const files = targets.filter((target) => !/^(https:|#)/.test(target))
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
    const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, text]) => `#${text?.toLowerCase().replaceAll(' ', '-')}`)
    expect(targets.filter((target) => target.startsWith('#') && !headings.includes(target))).toEqual([])
    expect(targets.length).toBeGreaterThan(10)
  })

  it('to a file in a code span resolves', () => {
    const named = [...everything.matchAll(/`((?:src|rest-compat|prisma|test)\/[^`\s]+|\w+\.ts)`/g)].map(
      ([, file]) => file as string,
    )
    expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
    expect(named).toContain('src/core/errors.ts')
  })

  it('in a guide is an absolute https link, since files are not served', () => {
    const targets = [...guides.values()].flatMap((text) =>
      [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target as string),
    )
    expect(targets.filter((target) => !target.startsWith('https://'))).toEqual([])
    expect(targets.length).toBeGreaterThan(3)
  })

  it('to an npm script resolves', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
    const named = [...everything.matchAll(/npm (?:run (?:-s )?)?([a-z:]+)/g)].map(([, name]) => name as string)
    expect(named.filter((name) => !['ci', 'install'].includes(name) && !(name in scripts))).toEqual([])
  })

  it('to a gateway command and its options resolves', async () => {
    const named = [...everything.matchAll(/gateway -- ((?:[a-z-]+ ?)+?)((?: ?--[a-z]+(?: [\w.@]+)?)*)`/g)]
    expect(named.length).toBeGreaterThan(9)
    const outcome = new Map(named.map(([, words, options]) => [words?.trim() as string, options?.match(/--[a-z]+/g) ?? []]))
    const answers = [...outcome].map(async ([words, options]) => {
      const { code, stdout } = await command([...words.split(' '), '--help'])
      expect(code, words).toBe(0)
      expect(stdout, words).toContain(`Usage: gateway ${words} `)
      for (const option of options) expect(stdout, words).toContain(option)
    })
    await Promise.all(answers)
  })
})
