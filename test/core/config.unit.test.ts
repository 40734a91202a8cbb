// Proves that the configuration reports every fault at once, in words.
import { writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/core/config/config.ts'

const key = 'ab'.repeat(32)
const outside = { DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/x', SECRET_KEY: key }

function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  return []
}

describe('configuration', () => {
  it('requires no variable', () => {
    const { config, secrets } = readConfig({})
    expect(config).toMatchObject({
      port: 4000,
      host: '127.0.0.1',
      dataDir: '.data',
      databaseUrl: undefined,
      rateLimitPerSecond: 10,
    })
    expect([...config.roles]).toEqual(['http', 'worker', 'relay'])
    expect(secrets.secretKey).toBeUndefined()
  })

  it('ignores white space around values, such as the line break of the file that one was read from', () => {
    const env = {
      METRICS_TOKEN: 'word\n',
      SECRET_KEY: `${key}\r\n`,
      NODE_ENV: 'production ',
      HOST: ' ::1',
      PORT: ' ',
      DATA_DIR: '\n',
    }
    const { config, secrets } = readConfig(env)
    expect(config).toMatchObject({ production: true, host: '::1', port: 4000, dataDir: '.data' })
    expect(secrets).toMatchObject({ metricsToken: 'word', secretKey: Buffer.from(key, 'hex') })
  })

  it('reads a variable from the file that NAME_FILE names', async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), 'config-'))
    const file = path.join(folder.path, 'secret')
    writeFileSync(file, `${key}\n`)
    const { secrets } = readConfig({ DATABASE_URL: outside.DATABASE_URL, SECRET_KEY_FILE: file })
    expect(secrets.secretKey?.toString('hex')).toBe(key)

    writeFileSync(file, '\n')
    const wrong = { SMTP_URL_FILE: `${file}.none`, METRICS_TOKEN_FILE: file, SECRET_KEY_FILE: file, SECRET_KEY: key }
    expect(faultsOf(wrong).sort()).toEqual([
      'METRICS_TOKEN_FILE: names an empty file',
      'SECRET_KEY_FILE: must not be set together with SECRET_KEY',
      'SMTP_URL_FILE: names a file that cannot be read (ENOENT)',
    ])
  })

  it('accepts base URLs with or without slashes at their end', () => {
    for (const slash of ['', '/', '//']) {
      const env = { PUBLIC_URL: `https://h.example/gateway${slash}`, CONSOLE_URL: `https://console.example${slash}` }
      expect(readConfig(env).config).toMatchObject({
        publicUrl: 'https://h.example/gateway',
        consoleUrl: 'https://console.example',
      })
    }
  })

  it.each(['https://h.example/?a=b', 'https://h.example/gateway?', 'https://user:word@h.example'])(
    'refuses base URLs to which no path can be appended: %s',
    (url) => {
      expect(faultsOf({ PUBLIC_URL: url, CONSOLE_URL: url })).toEqual([
        'PUBLIC_URL: must have no user, password, query or fragment',
        'CONSOLE_URL: must have no user, password or query',
      ])
    },
  )

  it('refuses a base URL that is no address beside the other faults', () => {
    const fault = 'must be a valid address that begins with http:// or https://'
    for (const url of ['foo', 'h.example', '/gateway', 'https://'])
      expect(faultsOf({ PORT: 'x', PUBLIC_URL: url, CONSOLE_URL: url, CLOUD_API_URL: url })).toEqual([
        'PORT: must be a number',
        `PUBLIC_URL: ${fault}`,
        `CONSOLE_URL: ${fault}`,
        `CLOUD_API_URL: ${fault}`,
      ])
  })

  it('refuses a sender of mails without an address, from which mails would have no sender', () => {
    const two = ['a@example.com, b@example.com', 'Shop, Ltd <a@b.example>']
    for (const sender of ['Messages', 'no reply@example.com', 'Messages <no-reply>', '<>', ...two])
      expect(faultsOf({ MAIL_FROM: sender })).toEqual([
        'MAIL_FROM: must be one address, for example Messages <no-reply@example.com>',
      ])
    for (const sender of ['no-reply@example.com', 'Messages <a@b.example>', '"Shop, Ltd" <a@b.example>', 'x <a@localhost>'])
      expect(readConfig({ MAIL_FROM: sender }).config.mailFrom).toBe(sender)
  })

  it('accepts a fragment for a console that keeps its page there, and for nothing else', () => {
    const url = 'https://h.example/app/#'
    expect(readConfig({ CONSOLE_URL: url }).config.consoleUrl).toBe(url)
    expect(faultsOf({ PUBLIC_URL: url })).toEqual(['PUBLIC_URL: must have no user, password, query or fragment'])
  })

  it('reads base URLs as browsers do, however they are spelled', () => {
    const { config } = readConfig({ PUBLIC_URL: ' HTTPS://H.Example:443/a/../Gateway/ ', CONSOLE_URL: 'https://bücher.example' })
    expect(config).toMatchObject({ publicUrl: 'https://h.example/Gateway', consoleUrl: 'https://xn--bcher-kva.example' })
  })

  it.each([
    ['WEBHOOK_TIMEOUT_SECONDS', '601'],
    ['WEBHOOK_RETRY_BASE_SECONDS', '86401'],
    ['MESSAGE_TTL_SECONDS', '1e15'],
    ['CLOUD_HEALTH_SECONDS', '2147484'],
    ['CLOUD_RECONCILE_SECONDS', '0'],
    ['SANDBOX_LATENCY_MS', '1e10'],
  ])('refuses times that no timer or date can hold: %s=%s', (name, value) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringMatching(`^${name}: `)])
  })

  it('names every fault together', () => {
    const faults = faultsOf({
      PORT: '70000',
      DATABASE_URL: 'mysql://x',
      ROLES: 'http,cook',
      LOG_LEVEL: 'loud',
      ALLOWED_PRIVATE_TARGETS: '10.0.0.0/8,here',
      SANDBOX_LATENCY_MS: '-1',
      DEMO: 'yes',
    })
    const names = [
      'PORT',
      'DATABASE_URL',
      'ROLES',
      'LOG_LEVEL',
      'ALLOWED_PRIVATE_TARGETS',
      'SANDBOX_LATENCY_MS',
      'DEMO',
      'SECRET_KEY',
    ]
    expect(new Set(faults.map((fault) => fault.split(':')[0]))).toEqual(new Set(names))
  })

  it('states once for each fault what the value must be', () => {
    const env = { DATABASE_URL: 'mysql://h/x', CONSOLE_URL: 'localhost:4000', RATE_LIMIT_PER_SECOND: '0', ROLES: 'cook,waiter' }
    expect(faultsOf({ ...env, SECRET_KEY: key })).toEqual([
      expect.stringMatching('^DATABASE_URL: must be a valid address that begins with postgres:// or postgresql://'),
      'ROLES: must be one of http, worker, relay',
      'RATE_LIMIT_PER_SECOND: must be more than 0',
      'CONSOLE_URL: must be a valid address that begins with http:// or https://',
    ])
  })

  it.each(['RATE_LIMIT_PER_SECOND', 'PERSON_RATE_LIMIT_PER_SECOND'])('refuses a %s that the database cannot count', (name) => {
    expect(faultsOf({ [name]: '5000000000' })).toEqual([`${name}: must be at most 1000000000`])
    expect(faultsOf({ [name]: '1000000000' })).toEqual([])
  })

  it('accepts a database on a socket, as URLs of PostgreSQL name it', () => {
    const url = 'postgres://u:p%40w@/x?host=/run/postgresql'
    expect(readConfig({ DATABASE_URL: `${url}\n`, SECRET_KEY: key }).config.databaseUrl).toBe(url)
  })

  it('says how a password with special characters is written', () => {
    expect(faultsOf({ DATABASE_URL: 'postgres://u:p/w#d@127.0.0.1/x', SECRET_KEY: key })).toEqual([
      expect.stringMatching(/^DATABASE_URL: .* percent-encoding \(@ is %40\)$/),
    ])
  })

  it('opens no second port by default, and refuses one that is none or that an http process has already', () => {
    expect(readConfig({}).config.healthPort).toBeUndefined()
    expect(readConfig({ HEALTH_PORT: '0', PORT: '0' }).config.healthPort).toBe(0)
    expect(readConfig({ HEALTH_PORT: '4000', ROLES: 'worker,relay' }).config.healthPort).toBe(4000)
    for (const bad of ['x', '-1', '65536', '4001.5']) {
      expect(faultsOf({ HEALTH_PORT: bad })).toEqual([expect.stringMatching(/^HEALTH_PORT: must be /)])
    }
    const same = 'HEALTH_PORT: must differ from PORT, which answers the same paths in a process with the role http'
    expect(faultsOf({ HEALTH_PORT: '4000' })).toEqual([same])
    expect(faultsOf({ HEALTH_PORT: '81', PORT: '81', ROLES: 'http' })).toEqual([same])
    expect(faultsOf({ HEALTH_PORT: '4000', LOG_LEVEL: 'loud' })).toContain(same)
  })

  it('requires SECRET_KEY with DATABASE_URL, and reports it among the other faults', () => {
    expect(faultsOf({ DATABASE_URL: outside.DATABASE_URL, PORT: 'x' }).map((fault) => fault.split(':')[0])).toEqual([
      'PORT',
      'SECRET_KEY',
    ])
  })

  it('refuses a SECRET_KEY that is not 32 bytes in hex', () => {
    for (const bad of ['ab', `${key}ab`, 'zz'.repeat(32)]) {
      expect(faultsOf({ ...outside, SECRET_KEY: bad })[0]).toBe('SECRET_KEY: must be 32 bytes in hex (64 digits)')
    }
    expect(readConfig(outside).secrets.secretKey).toEqual(Buffer.from(key, 'hex'))
  })

  it('refuses a database engine that no test runs on', () => {
    for (const engine of ['citus', 'cockroachdb', 'yugabytedb']) {
      expect(faultsOf({ ...outside, DATABASE_BACKEND: engine })[0]).toContain('DATABASE_BACKEND')
    }
    expect(readConfig({ ...outside, DATABASE_BACKEND: 'postgres' })).toBeDefined()
  })

  it('requires all variables of a bucket with MEDIA_STORE=s3, and refuses them without it', () => {
    const key = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' }
    expect(faultsOf({ MEDIA_STORE: 's3' })).toEqual(['S3_BUCKET: is required with MEDIA_STORE=s3'])
    expect(faultsOf({ MEDIA_STORE: 's3', S3_BUCKET: 'b', S3_SECRET_ACCESS_KEY: 'x' })[0]).toContain(
      'S3_ACCESS_KEY_ID: must be set together',
    )
    expect(faultsOf({ S3_BUCKET: 'b', S3_REGION: 'r' })).toEqual([
      'S3_BUCKET: needs MEDIA_STORE=s3',
      'S3_REGION: needs MEDIA_STORE=s3',
    ])
    const { config, secrets } = readConfig({ MEDIA_STORE: 's3', S3_BUCKET: 'b', ...key })
    expect(config.s3).toEqual({ bucket: 'b', endpoint: undefined, region: 'us-east-1' })
    expect(secrets.s3Credentials).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret' })
    expect(JSON.stringify(config)).not.toContain('secret')
    expect(readConfig({ MEDIA_STORE: 's3', S3_BUCKET: 'b' }).secrets.s3Credentials).toBeUndefined()
  })

  it('treats an empty variable as not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '', SECRET_KEY: '' }).config.port).toBe(4000)
  })

  it('creates a demo account by default only on the embedded database', () => {
    expect(readConfig({}).config.demo).toBe(true)
    expect(readConfig({ DEMO: '0' }).config.demo).toBe(false)
    expect(readConfig(outside).config.demo).toBe(false)
    expect(readConfig({ ...outside, DEMO: '1' }).config.demo).toBe(true)
  })

  it('accepts failpoints in tests only', () => {
    expect(readConfig({ NODE_ENV: 'test', FAILPOINT: 'a=kill' }).config.failpoint).toBe('a=kill')
    expect(readConfig({ NODE_ENV: 'production', FAILPOINT: 'a=kill' }).config.failpoint).toBeUndefined()
  })

  it('accepts a lower cost of password hashes in tests only', () => {
    expect(readConfig({ NODE_ENV: 'test', HASH_MEMORY_KIB: '64' }).config.hashMemoryKib).toBe(64)
    expect(readConfig({ NODE_ENV: 'production', HASH_MEMORY_KIB: '64' }).config.hashMemoryKib).toBeUndefined()
  })
})
