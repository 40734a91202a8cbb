// The operator's commands: their output, and their effects beside a running gateway.
import { spawn } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { command, commandProcess } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { environment, node, root } from '../kit/environment.ts'
import { outsideDatabase, watch } from '../kit/gateway.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

let databaseUrl: string
let gateway: OpenGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl })
})

async function gatewayCommand(...args: string[]) {
  return await command(args, { databaseUrl })
}

async function json(...args: string[]) {
  const { code, stdout, stderr } = await gatewayCommand(...args, '--json')
  expect({ code, stderr: stderr.replace(/^password: .*\n/, '') }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** An error is one sentence on stderr, and stdout stays empty. */
function expectRefusal(result: { code: number; stdout: string; stderr: string }, sentence: RegExp): void {
  expect(result).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(sentence) })
  expect(result.stderr.trimEnd().split('\n')).toHaveLength(1)
}

describe('account create', () => {
  it('prints exactly four fields of an account that works at once', async () => {
    const made = await json('account', 'create', '--email', 'a@example.com', '--name', 'Ada', '--plan', 'pro')
    expect(made).toEqual({
      userId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workspaceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: 'a@example.com',
      apiKey: expect.stringMatching(/^svc_live_[0-9a-f]{64}$/),
    })
    const { status, body } = await api(gateway, made.apiKey).get('me')
    expect({ status, data: body.data }).toMatchObject({
      status: 200,
      data: { id: made.userId, email: 'a@example.com', emailVerified: true, plan: { code: 'pro' } },
    })
  })

  it('generates and prints a password unless one is given', async () => {
    const args = ['account', 'create', '--name', 'B', '--plan', 'free', '--json', '--email']
    expect((await gatewayCommand(...args, 'made@example.com')).stderr).toMatch(/^password: \S{20}\n$/)
    expect((await gatewayCommand(...args, 'given@example.com', '--password', 'correct horse')).stderr).toBe('')
  })

  it('gives the reason of a refusal in one sentence', async () => {
    const args = ['account', 'create', '--name', 'C', '--plan', 'free', '--email', 'taken@example.com']
    // As processes of their own, for their exit codes.
    expect((await commandProcess(args, { databaseUrl })).code).toBe(0)
    expectRefusal(await commandProcess(args, { databaseUrl }), /taken@example\.com already/)
    expectRefusal(await gatewayCommand(...args.slice(0, 6)), /--email/)
    expectRefusal(await gatewayCommand(...args, '--plan', 'gold'), /free, pro, max/)
    expectRefusal(await gatewayCommand(...args, '--email', 'nobody'), /^email: /)
  })
})

it('account plan changes the plan from the next request on', async () => {
  const { apiKey } = await json('account', 'create', '--email', 'plan@example.com', '--name', 'P', '--plan', 'free')
  expect((await gatewayCommand('account', 'plan', '--email', 'plan@example.com', '--plan', 'max')).stdout).toBe(
    'plan@example.com is now on the plan max\n',
  )
  expect((await api(gateway, apiKey).get('me')).body.data.plan.code).toBe('max')
  expectRefusal(await gatewayCommand('account', 'plan', '--email', 'none@example.com', '--plan', 'max'), /none@example\.com/)
})

it('account list shows every account and no secret', async () => {
  const { apiKey } = await json('account', 'create', '--email', 'list@example.com', '--name', 'L', '--plan', 'free')
  const { stdout } = await gatewayCommand('account', 'list')
  expect(stdout).toMatch(/list@example\.com {2}free {2}active/)
  expect(stdout).not.toContain(apiKey.slice(20))
  const { rowCount } = await sql(databaseUrl).query('select from users')
  expect(await json('account', 'list')).toHaveLength(rowCount ?? 0)
})

it('api-key create and revoke take effect beside the running gateway', async () => {
  await json('account', 'create', '--email', 'key@example.com', '--name', 'K', '--plan', 'pro')
  const key = await json('api-key', 'create', '--email', 'key@example.com', '--name', 'second')
  expect(Object.keys(key)).toEqual(['id', 'name', 'prefix', 'access', 'apiKey'])
  expect((await api(gateway, key.apiKey).get('me')).status).toBe(200)
  expect((await gatewayCommand('api-key', 'revoke', '--id', key.id)).code).toBe(0)
  expect((await api(gateway, key.apiKey).get('me')).status).toBe(401)
  expectRefusal(await gatewayCommand('api-key', 'revoke', '--id', 'nonsense'), /nonsense/)
  for (const name of ['', 'x'.repeat(101)])
    expectRefusal(await gatewayCommand('api-key', 'create', '--email', 'key@example.com', '--name', name), /^name: /)
})

it('account list and api-key create handle an account whose sign-up was interrupted', async () => {
  const email = 'half@example.com'
  const userId = '01980000-0000-7000-8000-00000000000a'
  await sql(databaseUrl).query(`insert into users (id, email, name, "emailVerified") values ($1, $2, 'Half', true)`, [
    userId,
    email,
  ])
  expect(await json('account', 'list')).toContainEqual(expect.objectContaining({ userId, email, plan: null, status: null }))
  expect((await gatewayCommand('account', 'list')).stdout).toMatch(/half@example\.com {2}- {2}- {2}/)
  const { apiKey } = await json('api-key', 'create', '--email', email, '--name', 'first')
  expect((await api(gateway, apiKey).get('me')).body.data).toMatchObject({ id: userId, plan: { code: 'free' } })
})

it('team create prints the team and its key', async () => {
  await json('account', 'create', '--email', 'team@example.com', '--name', 'T', '--plan', 'pro')
  expect(await json('team', 'create', '--owner', 'team@example.com', '--name', 'Support')).toEqual({
    teamId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    apiKey: expect.stringMatching(/^svc_team_[0-9a-f]{64}$/),
  })
  expectRefusal(await gatewayCommand('team', 'create', '--owner', 'none@example.com', '--name', 'T'), /none@example\.com/)
})

it('api-key list shows the keys of an account, without their secrets', async () => {
  const { apiKey } = await json('account', 'create', '--email', 'keys@example.com', '--name', 'K', '--plan', 'pro')
  const keys = await json('api-key', 'list', '--email', 'keys@example.com')
  expect(keys).toEqual([
    {
      id: expect.any(String),
      name: 'First key',
      prefix: apiKey.slice(0, 16),
      access: 'full',
      createdAt: expect.any(String),
      lastUsedAt: null,
    },
  ])
  const { stdout } = await gatewayCommand('api-key', 'list', '--email', 'keys@example.com')
  expect(stdout).toMatch(/First key .* never used\n$/)
  expect(stdout).not.toContain(apiKey.slice(20))
  expectRefusal(await gatewayCommand('api-key', 'list', '--email', 'none@example.com'), /none@example\.com/)
})

it('migrate reports that there is nothing to apply', async () => {
  expect(await gatewayCommand('migrate')).toEqual({ code: 0, stdout: 'nothing to apply\n', stderr: '' })
})

it('migrate reports in one sentence why it cannot use a database', async () => {
  const name = `somebody_${process.pid}`
  await sql(databaseUrl).query(`create role ${name} login password 'x'`)
  await sql(databaseUrl).query(`create database ${name}`)
  const { host } = new URL(databaseUrl)
  const denied = await command(['migrate'], { databaseUrl: `postgres://${name}:x@${host}/${name}` })
  expectRefusal(denied, /^The user of DATABASE_URL may not create .*\(permission denied for schema public\)/)
  const web = await command(['migrate'], { databaseUrl: gateway.url.replace('http', 'postgres') })
  expectRefusal(web, /^The database of DATABASE_URL cannot be used/)
})

describe('account password and verify', () => {
  it('set another password, end every session, and verify an address', async () => {
    const client = api(gateway)
    const email = 'lost@example.com'
    await client.post('/api/auth/signup', { email, password: 'a forgotten password', name: 'Lost' })
    expect((await gatewayCommand('account', 'verify', '--email', 'Lost@Example.com')).code).toBe(0)
    const logIn = (password: string) => client.post('/api/auth/login', { email, password })
    const { accessToken } = (await logIn('a forgotten password')).body.data
    const { code, stdout } = await gatewayCommand('account', 'password', '--email', email)
    expect(code).toBe(0)
    const [, made] = stdout.match(/^password: (\S{20})$/m) as RegExpMatchArray
    expect((await client.get('/api/instances', { authorization: `Bearer ${accessToken}` })).status).toBe(401)
    expect((await logIn('a forgotten password')).status).toBe(401)
    expect((await logIn(made as string)).status).toBe(200)
    expect((await gatewayCommand('account', 'password', '--email', email, '--password', 'a password of my own')).code).toBe(0)
    expect((await logIn('a password of my own')).status).toBe(200)
  })

  it('refuse an unknown address and a password that is too short', async () => {
    for (const verb of ['password', 'verify']) {
      expectRefusal(await gatewayCommand('account', verb, '--email', 'nobody@example.com'), /nobody@example\.com/)
    }
    expectRefusal(await gatewayCommand('account', 'password', '--email', 'x@example.com', '--password', 'short'), /password/)
  })
})

describe('doctor', () => {
  it('reports each check as ok on its own line', async () => {
    // As a process of its own, which ends.
    const { code, stdout } = await commandProcess(['doctor'], { databaseUrl })
    const database = ['database', 'clock', 'migrations', 'transactions', 'jobs', 'secretKey', 'providers']
    const names = ['configuration', ...database, 'media', 'mail', 'stripe', 'identityProvider']
    expect(stdout.trimEnd().split('\n')).toEqual(names.map((name) => expect.stringMatching(`^ok +${name}: `)))
    expect(code).toBe(0)
  })

  it('reports a missing job queue or migration once', async () => {
    const broken = await cloneDatabase()
    await sql(broken).query('drop schema pgboss cascade')
    const withoutJobs = await command(['doctor'], { databaseUrl: broken })
    expect(withoutJobs.stdout.match(/^wrong .*$/gm)).toEqual([expect.stringMatching(/jobs: the job queue is not installed/)])
    await sql(broken).query(`delete from _prisma_migrations where migration_name like '0002%'; drop table instances cascade`)
    const { code, stdout } = await command(['doctor'], { databaseUrl: broken })
    expect(code).toBe(1)
    // The missing migration is reported once, not again for each missing table.
    expect(stdout.match(/^wrong .*$/gm)).toEqual([expect.stringMatching(/migrations: 0002_by_hand not applied yet/)])
  })

  it('reports that SECRET_KEY is not the one that sealed the stored keys', async () => {
    const login = { email: 'signs@example.com', password: 'correct horse' }
    await json('account', 'create', '--name', 'S', '--plan', 'free', '--email', login.email, '--password', login.password)
    expect((await api(gateway).post('/api/auth/login', login)).status).toBe(200)
    expect((await gatewayCommand('doctor')).stdout).toMatch(/^ok +secretKey: opens the stored secrets/m)
    const { code, stdout } = await command(['doctor'], { databaseUrl, env: { SECRET_KEY: 'ef'.repeat(32) } })
    expect(code).toBe(1)
    expect(stdout.match(/^wrong .*$/gm)).toEqual([expect.stringMatching(/secretKey: SECRET_KEY is not the key/)])
  })

  it('reports once that the database does not answer', async () => {
    const { code, stdout } = await command(['doctor'], { databaseUrl: 'postgres://x:y@127.0.0.1:1/z' })
    expect(code).toBe(1)
    expect(stdout.match(/^wrong .*$/gm)).toEqual([expect.stringMatching(/^wrong +database: .*127\.0\.0\.1:1 does not answer/)])
  })

  it('names every fault of the configuration', async () => {
    const { code, stderr } = await command(['doctor'], { env: { PORT: 'x', ROLES: 'cook' } })
    expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^PORT: /), expect.stringMatching(/^ROLES: /)],
    })
  })
})

it('refuses an unknown command', async () => {
  expectRefusal(await gatewayCommand('dance'), /dance/)
})

it('a command goes on to its end when nobody reads its output any more, as before `head`', async () => {
  const env = { ...environment, ...outsideDatabase(databaseUrl) }
  const child = spawn(node, ['src/cli/main.ts', 'doctor'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const doctor = watch(child)
  child.stdout.destroy()
  expect(await doctor.exited).toEqual({ code: 0, signal: null })
  expect(doctor.logs).toEqual([])
})

it('leaves the gateway running', async () => {
  expect(await until(async () => (await fetch(`${gateway.url}/livez`)).ok)).toBe(true)
})
