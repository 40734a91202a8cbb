// Proves which module may import which. A type import counts as much as a value import: both create a dependency.
import { describe, expect, it } from 'vitest'
import { broken, files, folderOf, imports } from './imports.ts'
import { importsOf } from './sources.ts'

/** The domain modules of the product, from lowest to highest: a domain may import only domains below it. */
const domains = [
  'providers',
  'accounts',
  'billing',
  'teams',
  'events',
  'media',
  'suppressions',
  'contacts',
  'message-types',
  'templates',
  'instances',
  'messages',
  'campaigns',
  'operator',
]

/**
 * The files of a domain that higher modules may import: its main verbs (`service`), its events, the part of the GraphQL schema
 * that others extend (`schema`), its job definitions (`*-job`), and the files listed here. Every other file is private to its
 * domain.
 */
const publicFiles: Record<string, readonly string[]> = {
  providers: ['provider', 'outgoing', 'reports', 'providers'],
  accounts: [
    'counts',
    'counts.sql',
    'credentials.sql',
    'email',
    'end-user',
    'find-user',
    'hold-session',
    'keys/api-keys',
    'keys/key-days',
    'keys/key-use',
    'keys/keys.sql',
    'keys/over-plan',
    'mail/console-url',
    'mail/order',
    'open-account',
    'operator',
    'sign-in/link',
    'sign-in/own-password',
    'users.sql',
    'workspace',
  ],
  teams: ['check-caller', 'memberships.sql'],
  billing: ['plans', 'admission/period', 'admission/quota', 'lock-plan', 'quota-preview', 'team-fit', 'team-fit.sql'],
  events: [
    'log/lag.sql',
    'log/define',
    'log/emit',
    'log/event-type',
    'log/log',
    'log/log.sql',
    'log/relay',
    'log/erase.sql',
    'live/follow',
  ],
  media: ['url', 'receive', 'keep', 'media.sql'],
  suppressions: ['keywords', 'suppressions.sql'],
  'message-types': ['fields', 'row'],
  templates: ['cloud', 'import', 'input', 'object', 'policy', 'render', 'templates.sql', 'values'],
  contacts: ['bulk/service', 'contacts.sql', 'groups/service', 'load'],
  instances: ['safety', 'sending.sql', 'state'],
  messages: [
    'error-codes',
    'input',
    'list',
    'load',
    'object',
    'accept/campaign-messages',
    'accept/compose',
    'accept/unsent',
    'accept/unsent.sql',
    'dispatch/dispatch',
    'safety/foresee',
    'safety/safety',
  ],
}

/** The modules above the domains, and what each may import besides core and every domain. */
const upper: Record<string, readonly string[]> = {
  demo: [],
  pages: ['demo'],
  console: [],
  http: ['pages'],
  cli: ['src/app.ts', 'src/worker.ts'],
  top: ['demo', 'pages', 'console', 'http', 'cli', 'top', 'rest-compat'],
}

/** The files directly in `src/`, which start the process and assemble the modules. */
const topFiles = [
  'app.ts',
  'erase-account.sql.ts',
  'erase-account.ts',
  'event-types.ts',
  'gateway.ts',
  'run.ts',
  'schema.ts',
  'server.ts',
  'worker.ts',
]

function isPublic(target: string): boolean {
  const [, domain, ...rest] = target.replace(/\.ts$/, '').split('/') as [string, string, ...string[]]
  const name = rest.join('/')
  if (['service', 'schema', 'events'].includes(name)) return true
  return /(^|\/)[a-z-]+-job$/.test(name) || Boolean(publicFiles[domain]?.includes(name))
}

describe('an import', () => {
  it('is found by these tests in every syntax', () => {
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
    const found = importsOf({ path: 'src/folder/file.ts', text, lines: 1 })
    expect(found).toEqual(['src/folder/a.ts', 'src/b.ts', 'c', '@d/d', 'src/folder/e.ts', 'node:f', 'src/h.ts'])
  })

  it('resolves to a file that exists', () => {
    const known = new Set(files.map(({ path }) => path))
    const lost = imports(() => true).filter(
      ({ target, to }) => to !== 'package' && !target.includes('/generated/') && !known.has(target),
    )
    expect(broken(lost)).toEqual([])
  })
})

describe('the modules of src', () => {
  it('are core, the domains in their order, webhooks, and those above the domains', () => {
    const folders = [...new Set(files.map(({ path }) => folderOf(path)))].filter((folder) => folder !== 'rest-compat')
    expect(folders.filter((folder) => !['core', 'webhooks', ...domains, ...Object.keys(upper)].includes(folder))).toEqual([])
    const top = files.filter(({ path }) => folderOf(path) === 'top').map(({ path }) => path.replace('src/', ''))
    expect(top).toEqual(topFiles)
  })

  it('keep core independent of every domain', () => {
    const wrong = imports((folder) => folder === 'core').filter(({ to }) => !['core', 'generated', 'package'].includes(to))
    expect(broken(wrong)).toEqual([])
  })

  it('let a domain import only core, itself, and the public files of the domains below it', () => {
    const wrong = imports((folder) => domains.includes(folder)).filter(({ source, target, to }) => {
      const own = folderOf(source.path)
      if (['core', 'generated', 'package', own].includes(to)) return false
      const below = domains.slice(0, domains.indexOf(own))
      return !below.includes(to) || !isPublic(target)
    })
    expect(broken(wrong)).toEqual([])
  })

  it('let webhooks import only core and events', () => {
    const wrong = imports((folder) => folder === 'webhooks').filter(({ target, to }) => {
      if (to === 'events') return !isPublic(target)
      return !['core', 'webhooks', 'generated', 'package'].includes(to)
    })
    expect(broken(wrong)).toEqual([])
    const above = ['webhooks', ...Object.keys(upper)]
    expect(broken(imports((folder) => !above.includes(folder)).filter(({ to }) => to === 'webhooks'))).toEqual([])
  })

  it('let the modules above the domains import only what is listed for each', () => {
    const below = ['core', 'generated', 'package', 'webhooks', ...domains]
    const wrong = imports((folder) => folder in upper).filter(({ source, target, to }) => {
      const own = folderOf(source.path)
      return own !== to && !below.includes(to) && !upper[own]?.includes(to) && !upper[own]?.includes(target)
    })
    expect(broken(wrong)).toEqual([])
    const lower = imports((folder) => !(folder in upper)).filter(({ to }) => to in upper)
    expect(broken(lower)).toEqual([])
  })

  it('export nothing that another file defines, so that an import leads to its definition', () => {
    const passing = files.filter(
      ({ path, text }) => !path.includes('/generated/') && /^export (type )?(\{[^}]*\}|\*.*) from /m.test(text),
    )
    expect(passing.map(({ path }) => path)).toEqual([])
  })

  it('contain no two files that import each other', () => {
    const pairs = new Set(files.flatMap((source) => importsOf(source).map((target) => `${source.path} ${target}`)))
    const both = [...pairs].filter((pair) => pairs.has(pair.split(' ').reverse().join(' ')))
    expect(both).toEqual([])
  })

  it('restrict generated code to the builder, the tables and the database, except for the types and enums of the models', () => {
    const behind: Record<string, string[]> = {
      'src/generated/pothos.ts': ['src/core/graph/builder.ts', 'src/core/graph/table.ts'],
      'src/generated/prisma/client.ts': ['src/core/database/database.ts'],
      'src/generated/prisma/models.ts': [],
      'src/generated/prisma/enums.ts': files.map(({ path }) => path),
    }
    const wrong = imports((folder) => folder !== 'rest-compat').filter(({ source, target, to }) => {
      if (to !== 'generated' || behind[target]?.includes(source.path)) return false
      const name = target.replace('src/', '')
      const typeOnly = new RegExp(`^import type [^;']*'[./]+${name}'`, 'm').test(source.text)
      return target === 'src/generated/pothos.ts' || !(target in behind) || !typeOnly
    })
    expect(broken(wrong)).toEqual([])
  })
})
