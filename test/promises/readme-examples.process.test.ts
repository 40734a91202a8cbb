// Proves that every example in README.md and the guides runs.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { withToken } from '../../rest-compat/openapi/words.ts'
import { createAccount } from '../../src/accounts/service.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, prisma } from '../kit/database.ts'
import { node, root } from '../kit/environment.ts'
import { startGateway, watch } from '../kit/gateway.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import { blocks, curls, curlsOf, guides, readme } from './readme-blocks.ts'

/** The JavaScript example whose first line is a comment with this file name. */
function programOf(name: string): string {
  return blocks.find(({ language, text }) => language === 'js' && text.startsWith(`// ${name}\n`))?.text as string
}

/** The shell example that calls this path. */
function exampleOf(path: string): string {
  return curls.find(({ text }) => text.includes(path))?.text as string
}

describe('the examples of README and the guides', () => {
  const scene = { URL: '', KEY: '', INSTANCE: '', EMAIL: 'reader@example.com', PASSWORD: 'correct horse battery' }
  const home = mkdtempSync(path.join(os.tmpdir(), 'gateway-readme-'))

  beforeAll(async () => {
    atEnd('file', async () => rmSync(home, { recursive: true, force: true }))
    // With `fail`, curl exits with an error at a status of 400 or more, which fails the example.
    writeFileSync(path.join(home, '.curlrc'), 'fail\nsilent\nshow-error\n')
    const databaseUrl = await cloneDatabase()
    const { EMAIL: email, PASSWORD: password } = scene
    const account = await createAccount(prisma(databaseUrl), { email, password, name: 'Reader', plan: 'pro' })
    const instance = await connectedInstance(databaseUrl, account)
    // Running all the examples takes a second or two, which exceeds the default rate limit of one key.
    const gateway = await startGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '1000' } })
    Object.assign(scene, { URL: gateway.url, KEY: account.apiKey, INSTANCE: instance.id })
  })

  function environment(more: Record<string, string> = {}): Record<string, string | undefined> {
    return { PATH: `${path.dirname(node)}:${process.env.PATH}`, CURL_HOME: home, ...scene, ...more }
  }

  /** Runs a shell example to its end; returns what it printed. */
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
    await shell(exampleOf('/messages/send'))
  }

  it('send a message: over REST, over GraphQL, and at a later time', async () => {
    const [rest, graphql, schedule] = ['/messages/send', 'mutation Send', '/messages/schedule'].map(exampleOf)
    expect(JSON.parse(await shell(rest as string)).data).toMatchObject({ to: '+4915112345678', status: 'queued' })
    expect(JSON.parse(await shell(graphql as string)).data.sendMessage).toMatchObject({
      status: 'queued',
      instance: { status: 'connected' },
    })
    expect(JSON.parse(await shell(schedule as string)).data).toMatchObject({ body: 'An hour later', status: 'queued' })
  })

  it('include working addresses for a browser', async () => {
    const outcome = readme.match(/^### In a browser\n[^#]+/m)?.[0] ?? ''
    const paths = [...new Set([...outcome.matchAll(/`(?:GET )?(\/\S+)`/g)].map(([, place]) => place))]
    expect(paths).toEqual(['/docs', '/graphql', '/api/v1/openapi.json', '/api/openapi.json'])
    for (const place of paths) {
      const { status } = await fetch(`${scene.URL}${place}`, { headers: { accept: 'text/html' } })
      expect(status, place).toBe(200)
    }
  })

  it('send from a template', async () => {
    const example = exampleOf('/api/v1/templates')
    expect(JSON.parse(await shell(example)).data).toMatchObject({ body: 'Hello you, No. 1234 is on its way.', status: 'queued' })
  })

  it('send a campaign', async () => {
    const example = exampleOf('/api/v1/campaigns')
    expect(JSON.parse(await shell(example)).data).toMatchObject({ stats: { total: 2, failed: 0, cancelled: 0 } })
  })

  it('upload a file and return an address that works', async () => {
    const example = exampleOf('/api/v1/media')
    const { url } = JSON.parse(await shell(example)).data
    expect(await (await fetch(url)).text()).toBe(readme)
  })

  it('watch events: as a plain stream, as a subscription, and as an EventSource', async () => {
    const [plain, subscription] = curls
      .filter(({ text }) => text.includes('curl -N'))
      .map(({ text }) => {
        return watch(spawn('sh', ['-c', `exec ${text}`], { cwd: root, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] }))
      })
    const eventSource = run(programOf('watch.mjs'))
    await plain?.line(/^id: /)
    await subscription?.line(/^id: /)
    // The EventSource prints nothing when it opens, so messages are sent until it has received one.
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

  it('connect the EventSource again after an answer that passes, and say why after one that lasts', async () => {
    const event = 'event: message.read\ndata: { "to": "+4915112345678" }\n\n'
    const answers = [
      { status: 200, text: 'retry: 1\n\n' },
      { status: 429, text: '' },
      { status: 503, text: '' },
      { status: 200, text: event },
      { status: 401, text: '' },
    ]
    const front = createServer((_, response) => {
      const answer = answers.shift()
      response.writeHead(answer?.status ?? 500, { 'content-type': 'text/event-stream' }).end(answer?.text)
    })
    atEnd('test', async () => void front.close())
    await once(front.listen(0, '127.0.0.1'), 'listening')
    const { port } = front.address() as AddressInfo
    const program = run(programOf('watch.mjs'), { URL: `http://127.0.0.1:${port}` })
    await program.exited
    expect(program.logs).toEqual(['message.read +4915112345678', 'Non-200 status code (401)'])
    expect(answers).toEqual([])
  })

  it.each(['receiver.mjs', 'plain-receiver.mjs'])('receive webhooks, and refuse forged ones: %s', async (name) => {
    const port = String(await ownPort())
    const create = exampleOf('/api/v1/webhooks')
    const { secret } = JSON.parse(await shell(create.replaceAll('8080', port))).data
    const receiver = run(programOf(name).replaceAll('8080', port), { WEBHOOK_SECRET: secret })
    const post = async (headers: Record<string, string>) =>
      await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{"event":"message.sent"}', headers })
    await until(async () => (await post({})).status === 401)
    expect((await post({ 'x-service-signature': `sha256=${'0'.repeat(64)}` })).status).toBe(401)
    expect((await post({ 'webhook-id': '1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' })).status).toBe(401)
    await send()
    // Deliveries run in parallel, in no guaranteed order.
    for (const type of ['sent', 'delivered', 'read']) await receiver.line(new RegExp(`^message\\.${type} \\+4915112345678$`))
  })

  it('contain the TypeScript client exactly as it is compiled and run', () => {
    const programs = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text)
    // Run by test/client/dashboard.test.ts.
    expect(programs).toEqual([readFileSync(path.join(root, 'test/client/dashboard.ts'), 'utf8')])
  })

  it('sign up an account', async () => {
    const example = exampleOf('/api/auth/signup')
    expect(JSON.parse(await shell(example)).data.user).toMatchObject({ email: 'ada@example.com', emailVerified: false })
  })

  it('share a workspace, with people and with a key', async () => {
    const example = exampleOf('/api/teams')
    const [invitation, contacts] = (await shell(example)).split(/(?<=\})(?=\{"data)/).map((text) => JSON.parse(text).data)
    expect(invitation).toMatchObject({ email: 'grace@example.com', role: 'admin', status: 'pending' })
    expect(contacts).toEqual({ contacts: [], nextCursor: null, hasMore: false })
  })

  it("run with an access token, as the console's document shows them", async () => {
    const { EMAIL: email, PASSWORD: password } = scene
    const headers = { 'content-type': 'application/json' }
    const login = await fetch(`${scene.URL}/api/auth/login`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ email, password }),
    })
    const { data } = (await login.json()) as { data: { accessToken: string } }
    const changed = [...guides.values()].flatMap(curlsOf).flatMap(({ text }) => {
      const [example] = curlsOf(withToken(`\`\`\`sh\n${text}\`\`\`\n`))
      return example && example.text !== text ? [example.text] : []
    })
    expect(changed).toHaveLength(5)
    for (const text of changed) {
      expect(text).not.toMatch(/x-api-key|api\/v1/)
      // A template name is unique in its workspace.
      expect(await shell(`TOKEN=${data.accessToken}\n${text.replace('Shipped', 'Sent')}`)).toMatch(/^\{"data":/)
    }
  })

  it('are all run by these tests', () => {
    const outcome = blocks.filter(({ language }) => language === 'js').map(({ text }) => text.split('\n')[0])
    expect(outcome).toEqual(['// watch.mjs', '// receiver.mjs', '// plain-receiver.mjs'])
    expect(curls).toHaveLength(11)
  })
})
