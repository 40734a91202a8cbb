// README.md is true: what it shows runs, what it points at exists, what it counts is what the code counts.
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-compat/routes.ts'
import { createAccount } from '../../src/accounts/service.ts'
import { freePort } from '../../src/core/cluster.ts'
import { configTable } from '../../src/core/config-table.ts'
import { maxPageSize } from '../../src/core/pagination.ts'
import { maxStreamsOfKey } from '../../src/events/places.ts'
import { limits } from '../../src/graphql-limits.ts'
import { mediaTypes } from '../../src/media/kinds.ts'
import { scriptFor } from '../../src/providers/sandbox/script.ts'
import { atEnd, cloneDatabase, command, connectedInstance, node, root, sql, startGateway, until, watch } from '../kit/kit.ts'

const readme = readFileSync(path.join(root, 'README.md'), 'utf8')

interface Block {
  language: string
  text: string
}

const blocks: Block[] = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
  language: language as string,
  text: text as string,
}))

/** The shell examples with curl, in the order of the page; those with something to fill in are none. */
const curls = blocks.filter(({ language, text }) => language === 'sh' && text.includes('curl') && !text.includes('…'))

/** The JavaScript example whose first line is that file's name. */
function programOf(name: string): string {
  return blocks.find(({ language, text }) => language === 'js' && text.startsWith(`// ${name}\n`))?.text as string
}

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

describe('what README shows', () => {
  const scene = { URL: '', KEY: '', INSTANCE: '', EMAIL: 'reader@example.com', PASSWORD: 'correct horse battery' }
  const home = mkdtempSync(path.join(os.tmpdir(), 'gateway-readme-'))

  beforeAll(async () => {
    atEnd('file', async () => rmSync(home, { recursive: true, force: true }))
    // An answer that is an error is a failure of the example.
    writeFileSync(path.join(home, '.curlrc'), 'fail\nsilent\nshow-error\n')
    const databaseUrl = await cloneDatabase()
    const { EMAIL: email, PASSWORD: password } = scene
    const account = await createAccount(sql(databaseUrl), { email, password, name: 'Reader', plan: 'pro' })
    const instance = await connectedInstance(databaseUrl, account)
    // All the examples within a second or two are more than one key may ask.
    const gateway = await startGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '1000' } })
    Object.assign(scene, { URL: gateway.url, KEY: account.apiKey, INSTANCE: instance.id })
  })

  function environment(more: Record<string, string> = {}): Record<string, string | undefined> {
    return { PATH: `${path.dirname(node)}:${process.env.PATH}`, CURL_HOME: home, ...scene, ...more }
  }

  /** Runs a shell example to its end; answers what it printed. */
  async function shell(text: string): Promise<string> {
    return await new Promise((resolve, reject) => {
      execFile('sh', ['-ec', text], { cwd: root, env: environment() }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${text}\n${stdout}${stderr}`, { cause: error }))
        else resolve(stdout)
      })
    })
  }

  function run(program: string, more?: Record<string, string>) {
    return watch(
      spawn(node, ['--input-type=module', '--eval', program], {
        cwd: root,
        env: environment(more),
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
  }

  async function send(): Promise<void> {
    await shell(curls[0]?.text as string)
  }

  it('sends: by REST, by GraphQL, and at a later time', async () => {
    const [rest, graphql, schedule] = curls
      .filter(({ text }) => /send|Send|schedule/.test(text))
      .map(({ text }) => text) as string[]
    expect(JSON.parse(await shell(rest as string)).data).toMatchObject({ to: '+4915112345678', status: 'queued' })
    expect(JSON.parse(await shell(graphql as string)).data.sendMessage).toMatchObject({
      status: 'queued',
      instance: { status: 'connected' },
    })
    expect(JSON.parse(await shell(schedule as string)).data).toMatchObject({ body: 'An hour later', status: 'queued' })
  })

  it('sends from a template', async () => {
    const example = curls.find(({ text }) => text.includes('/api/v1/templates'))?.text as string
    expect(JSON.parse(await shell(example)).data).toMatchObject({ body: 'Hello you, No. 1234 is on its way.', status: 'queued' })
  })

  it('sends a campaign', async () => {
    const example = curls.find(({ text }) => text.includes('/api/v1/campaigns'))?.text as string
    expect(JSON.parse(await shell(example)).data).toMatchObject({ stats: { total: 2, failed: 0, cancelled: 0 } })
  })

  it('shares a workspace, with people and with a key', async () => {
    const example = curls.find(({ text }) => text.includes('/api/teams'))?.text as string
    const [invitation, contacts] = (await shell(example)).split(/(?<=\})(?=\{"data)/).map((text) => JSON.parse(text).data)
    expect(invitation).toMatchObject({ email: 'grace@example.com', role: 'admin', status: 'pending' })
    expect(contacts).toEqual({ contacts: [], nextCursor: null, hasMore: false })
  })

  it('uploads a file, whose address works', async () => {
    const example = curls.find(({ text }) => text.includes('/api/v1/media'))?.text as string
    const { url } = JSON.parse(await shell(example)).data
    expect(await (await fetch(url)).text()).toBe(readme)
  })

  it('watches: as a plain stream, as a subscription, and as an EventSource', async () => {
    const [plain, subscription] = curls
      .filter(({ text }) => text.includes('curl -N'))
      .map(({ text }) => {
        return watch(spawn('sh', ['-c', `exec ${text}`], { cwd: root, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] }))
      })
    const eventSource = run(programOf('watch.mjs'))
    await plain?.line(/^id: /)
    await subscription?.line(/^id: /)
    // The EventSource says nothing when it is open, so messages are sent until it has seen one.
    await until(
      async () => {
        await send()
        return eventSource.logs.length > 0
      },
      { everyMs: 300 },
    )
    await plain?.line(/^event: message\.read$/)
    await subscription?.line(/"type":"message_read".*"to":"\+4915112345678"/)
    await eventSource.line(/^message\.read \+4915112345678$/)
  })

  it.each(['receiver.mjs', 'plain-receiver.mjs'])('receives webhooks, and refuses forged ones: %s', async (name) => {
    const port = String(await freePort())
    const create = curls.find(({ text }) => text.includes('/api/v1/webhooks'))?.text as string
    const { secret } = JSON.parse(await shell(create.replaceAll('8080', port))).data
    const receiver = run(programOf(name).replaceAll('8080', port), { WEBHOOK_SECRET: secret })
    const post = async (headers: Record<string, string>) =>
      await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{"event":"message.sent"}', headers })
    await until(async () => (await post({})).status === 401)
    expect((await post({ 'x-service-signature': `sha256=${'0'.repeat(64)}` })).status).toBe(401)
    expect((await post({ 'webhook-id': '1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' })).status).toBe(401)
    await send()
    // Deliveries are side by side, in no promised order.
    for (const type of ['sent', 'delivered', 'read']) await receiver.line(new RegExp(`^message\\.${type} \\+4915112345678$`))
  })

  it('is a client that is compiled and run as it stands', () => {
    const programs = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text)
    // Run by test/client/dashboard.test.ts.
    expect(programs).toEqual([readFileSync(path.join(root, 'test/client/dashboard.ts'), 'utf8')])
  })

  it('has no example that these tests leave out', () => {
    const told = blocks.filter(({ language }) => language === 'js').map(({ text }) => text.split('\n')[0])
    expect(told).toEqual(['// watch.mjs', '// receiver.mjs', '// plain-receiver.mjs'])
    expect(curls).toHaveLength(10)
  })
})
