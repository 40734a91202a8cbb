// Who may import whom. A type counts as much as a value: whoever knows the shape of another room depends on it.
import { describe, expect, it } from 'vitest'
import { filesOf, importsOf, type Source, sourcesOf } from './sources.ts'

/** The product, low to high: an import goes down only. */
const domains = [
  'providers',
  'accounts',
  'billing',
  'teams',
  'events',
  'media',
  'message-types',
  'templates',
  'contacts',
  'instances',
  'messages',
  'campaigns',
]

/**
 * What a domain offers to those above it: the verbs (`service`), the events, the part of the graph that others add fields
 * to (`schema`), its job definitions (`*-job`), and what is named here. Everything else is private to it.
 */
const offered: Record<string, readonly string[]> = {
  providers: ['provider', 'providers'],
  accounts: ['mail/order', 'mail/console-url', 'counts'],
  billing: ['plans', 'admission/quota', 'hold-plan', 'team-fit'],
  events: ['log/emit', 'log/event-type', 'log/log', 'log/relay', 'live/follow'],
  media: ['url'],
  'message-types': ['fields', 'row'],
  contacts: ['bulk/service', 'groups/service'],
  instances: ['safety'],
  messages: ['input', 'list', 'object', 'accept/compose', 'accept/enqueue', 'dispatch/dispatch', 'safety/safety'],
}

/** Above the domains: what each of these rooms may import besides core and every domain. */
const upper: Record<string, readonly string[]> = {
  demo: [],
  pages: ['demo'],
  http: ['pages'],
  cli: ['src/app.ts', 'src/worker.ts'],
  top: ['demo', 'pages', 'http', 'cli', 'top', 'rest-compat'],
}

/** The files of `src/` itself, which start the process and put the rooms together. */
const topFiles = ['app.ts', 'main.ts', 'schema.ts', 'server.ts', 'worker.ts']

const files = sourcesOf('src', 'rest-compat')

/** The folder of src, `rest-compat`, or `top` for the files of src itself. */
function roomOf(path: string): string {
  const [first, second, third] = path.split('/') as [string, string, string | undefined]
  if (first !== 'src') return first
  return third === undefined ? 'top' : second
}

function imports(from: (room: string) => boolean): { source: Source; target: string; to: string }[] {
  return files
    .filter(({ path }) => from(roomOf(path)))
    .flatMap((source) =>
      importsOf(source).map((target) => ({ source, target, to: target.includes('.ts') ? roomOf(target) : 'package' })),
    )
}

/** The imports that break a rule, readable in a failure. */
function broken(list: { source: Source; target: string }[]): string[] {
  return list.map(({ source, target }) => `${source.path} imports ${target}`)
}

function isOffered(target: string): boolean {
  const [, domain, ...rest] = target.replace(/\.ts$/, '').split('/') as [string, string, ...string[]]
  const name = rest.join('/')
  return (
    ['service', 'schema', 'events'].includes(name) || /(^|\/)[a-z-]+-job$/.test(name) || Boolean(offered[domain]?.includes(name))
  )
}

describe('an import', () => {
  it('is found by these tests in every way of writing it', () => {
    const text = [
      "import { a } from './a.ts'",
      "import type { B } from '../b.ts'",
      "import {\n  c,\n} from 'c/deep'",
      "export { d } from '@d/d/deep'",
      "import './e.ts'",
      "const f = await import('node:f')",
      "function g(h: import('../h.ts').H) {}",
      "// what comes from './nowhere.ts' is no import",
    ].join('\n')
    const found = importsOf({ path: 'src/room/file.ts', text, lines: 1 })
    expect(found).toEqual(['src/room/a.ts', 'src/b.ts', 'c', '@d/d', 'src/room/e.ts', 'node:f', 'src/h.ts'])
  })

  it('leads to a file that exists', () => {
    const known = new Set(files.map(({ path }) => path))
    const lost = imports(() => true).filter(
      ({ target, to }) => to !== 'package' && !target.includes('/generated/') && !known.has(target),
    )
    expect(broken(lost)).toEqual([])
  })
})

describe('the rooms of src', () => {
  it('are core, the domains in their order, webhooks, and those above them', () => {
    const rooms = [...new Set(files.map(({ path }) => roomOf(path)))].filter((room) => room !== 'rest-compat')
    expect(rooms.filter((room) => !['core', 'webhooks', ...domains, ...Object.keys(upper)].includes(room))).toEqual([])
    const top = files.filter(({ path }) => roomOf(path) === 'top').map(({ path }) => path.replace('src/', ''))
    expect(top).toEqual(topFiles)
  })

  it('keep core free of any domain', () => {
    expect(broken(imports((room) => room === 'core').filter(({ to }) => !['core', 'generated', 'package'].includes(to)))).toEqual(
      [],
    )
  })

  it('let a domain import core, itself, and what the domains below it offer', () => {
    const wrong = imports((room) => domains.includes(room)).filter(({ source, target, to }) => {
      const own = roomOf(source.path)
      if (['core', 'generated', 'package', own].includes(to)) return false
      const below = domains.slice(0, domains.indexOf(own))
      return !below.includes(to) || !isOffered(target)
    })
    expect(broken(wrong)).toEqual([])
  })

  it('let webhooks import core and events only', () => {
    const wrong = imports((room) => room === 'webhooks').filter(({ target, to }) => {
      if (to === 'events') return !isOffered(target)
      return !['core', 'webhooks', 'generated', 'package'].includes(to)
    })
    expect(broken(wrong)).toEqual([])
    const above = ['webhooks', ...Object.keys(upper)]
    expect(broken(imports((room) => !above.includes(room)).filter(({ to }) => to === 'webhooks'))).toEqual([])
  })

  it('let the rooms above the domains import of each other what is listed', () => {
    const below = ['core', 'generated', 'package', 'webhooks', ...domains]
    const wrong = imports((room) => room in upper).filter(({ source, target, to }) => {
      const own = roomOf(source.path)
      return own !== to && !below.includes(to) && !upper[own]?.includes(to) && !upper[own]?.includes(target)
    })
    expect(broken(wrong)).toEqual([])
    const lower = imports((room) => !(room in upper)).filter(({ to }) => to in upper)
    expect(broken(lower)).toEqual([])
  })

  it('have no two files that import each other', () => {
    const pairs = new Set(files.flatMap((source) => importsOf(source).map((target) => `${source.path} ${target}`)))
    const both = [...pairs].filter((pair) => pairs.has(pair.split(' ').reverse().join(' ')))
    expect(both).toEqual([])
  })

  it('keep generated code behind the builder, the tables and the database, but for the types and enums of the models', () => {
    const behind: Record<string, string[]> = {
      'src/generated/pothos.ts': ['src/core/graph/builder.ts', 'src/core/graph/table.ts'],
      'src/generated/prisma/client.ts': ['src/core/database/database.ts'],
      'src/generated/prisma/models.ts': [],
      'src/generated/prisma/enums.ts': files.map(({ path }) => path),
    }
    const wrong = imports((room) => room !== 'rest-compat').filter(({ source, target, to }) => {
      if (to !== 'generated' || behind[target]?.includes(source.path)) return false
      const name = target.replace('src/', '')
      const typeOnly = new RegExp(`^import type [^;']*'[./]+${name}'`, 'm').test(source.text)
      return target === 'src/generated/pothos.ts' || !(target in behind) || !typeOnly
    })
    expect(broken(wrong)).toEqual([])
  })
})

describe('rest-compat', () => {
  it('imports its own folder, the error table, and packages', () => {
    const wrong = imports((room) => room === 'rest-compat').filter(
      ({ target, to }) => !['rest-compat', 'package'].includes(to) && target !== 'src/core/errors.ts',
    )
    expect(broken(wrong)).toEqual([])
  })

  it('knows the graph only, not the database', () => {
    const wrong = imports((room) => room === 'rest-compat').filter(({ target }) =>
      /^(pg|pg-boss|@prisma\/.*|@pothos\/.*)$/.test(target),
    )
    expect(broken(wrong)).toEqual([])
  })

  it('is imported by src/server.ts alone, in one line', () => {
    const from = imports((room) => room !== 'rest-compat').filter(({ to }) => to === 'rest-compat')
    expect(broken(from)).toEqual(['src/server.ts imports rest-compat/mount.ts'])
  })

  it('can be taken away without the graph noticing: src/schema.ts reaches neither it nor the server', () => {
    const byPath = new Map(files.map((source) => [source.path, source]))
    const reached = new Set(['src/schema.ts'])
    for (const path of reached) {
      const source = byPath.get(path)
      for (const target of source ? importsOf(source) : []) if (target.endsWith('.ts')) reached.add(target)
    }
    expect([...reached].filter((path) => path === 'src/server.ts' || path.startsWith('rest-compat/'))).toEqual([])
    expect(reached.size).toBeGreaterThan(20)
  })
})

describe('every file', () => {
  const everything = [...sourcesOf('src', 'rest-compat', 'test', 'prisma'), ...sourcesOf('.')]

  it('says in its first line what it is for', () => {
    const silent = everything.filter(({ text }) => !/^\/\/ \S.{9,}/.test(text)).map(({ path }) => path)
    expect(silent).toEqual([])
  })

  it('is in kebab-case, in a folder that says what is in it', () => {
    const all = ['src', 'rest-compat', 'test', 'prisma/schema'].flatMap(filesOf)
    const names = all.filter((name) => !name.endsWith('/README.md'))
    const ours = names.map((name) =>
      name
        .replace(/^(src|rest-compat|test|prisma)\//, '')
        .replace(/\.((unit\.|process\.|deep\.)?test\.)?(ts|m?js|json|md|prisma|graphql)$/, ''),
    )
    expect(ours.filter((name) => !name.split('/').every((part) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(part)))).toEqual([])
    const nothing = /^(utils?|shared|common|libs?|helpers?|types?|misc|v\d+)$/
    expect(ours.filter((name) => name.split('/').some((part) => nothing.test(part)))).toEqual([])
  })

  it('exports by name, unless a tool insists on a default', () => {
    const insisted = /(\.config|^codegen)\.ts$/
    const wrong = everything.filter(({ path, text }) => !insisted.test(path) && /^export default|\bas default\b/m.test(text))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  it('leaves the environment to core/config.ts', () => {
    const readers = files.filter(({ text }) => /\bprocess\s*(\.env|\[['"]env)|\benv\b[^\n]*\bfrom 'node:process'/.test(text))
    expect(readers.map(({ path }) => path)).toEqual(['src/core/config/config.ts'])
  })
})
