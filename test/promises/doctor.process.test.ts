// Proves what the doctor command reports about a gateway's dependencies (files, mail, identity provider), working and failing.
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createSocket, type Server } from 'node:net'
import path from 'node:path'
import { SMTPServer } from 'smtp-server'
import { beforeAll, expect, inject, it } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { startGateway } from '../kit/gateway.ts'
import { startS3 } from '../media/s3-rig.ts'
import { openApp } from '../messages/rig.ts'
import { openRig } from '../webhooks/rig.ts'
import { dataFolder } from './demo.ts'

const password = 'the-password-of-the-mailbox'
let databaseUrl: string
let s3: Record<string, string>
let objects: Map<string, Buffer>

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  // Starting the app creates the queues.
  await openApp(databaseUrl)
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'the-secret-of-the-bucket', region: 'eu-central-1' }
  const server = await startS3(credentials)
  s3 = {
    MEDIA_STORE: 's3',
    S3_BUCKET: 'files',
    S3_ENDPOINT: server.url,
    S3_REGION: credentials.region,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
  objects = server.objects
})

/** Runs the doctor; returns whether all checks passed, and the report of each check: `ok …` or `wrong …`. */
async function ask(env: Record<string, string>): Promise<{ isWell: boolean; outcome: Record<string, string> }> {
  const { config, secrets } = readConfig({
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    DATA_DIR: await dataFolder(),
    ...env,
  })
  const lines: string[] = []
  const patient = { config, secrets, url: config.databaseUrl as string, secretKey: secrets.secretKey as Buffer }
  const isWell = await doctor(patient, (line) => lines.push(line))
  expect(lines.join('\n')).not.toMatch(new RegExp(`${password}|${s3.S3_SECRET_ACCESS_KEY}|the-wrong`))
  const parts = lines.map((line) => /^(ok|wrong) +(\w+): (.*)$/.exec(line) as RegExpExecArray)
  return { isWell, outcome: Object.fromEntries(parts.map(([, state, name, words]) => [name, `${state} ${words}`])) }
}

async function open(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd('test', async () => {
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that accepts connections and never answers. */
const silent = () => open(createSocket((socket) => socket.on('error', () => {}).unref()))

async function mailServer(): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth: ({ username, password: given }, _, answer) =>
      given === password ? answer(null, { user: username }) : answer(new Error('no such mailbox')),
  })
  server.on('error', () => {})
  return await open(server.server)
}

async function provider(answer: RequestListener): Promise<Record<string, string>> {
  const place = await open(createHttp(answer))
  return oidcAt(`http://${place}/.well-known/openid-configuration`)
}

const oidcAt = (url: string) => ({ OIDC_DISCOVERY_URL: url, OIDC_CLIENT_ID: 'gateway', OIDC_CLIENT_SECRET: password })
const saying =
  (text: string, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(text)

it('reports that all is well when every dependency answers', async () => {
  const mail = await mailServer()
  const oidc = await provider(saying('{"issuer": "https://id.example.com"}'))
  const DATA_DIR = await dataFolder()
  const SMTP_URL = `smtp://me:${password}@${mail}`
  const [onDisk, inBucket] = await Promise.all([ask({ DATA_DIR, SMTP_URL, ...oidc }), ask(s3)])
  expect(onDisk).toMatchObject({
    isWell: true,
    outcome: {
      media: `ok ${path.join(DATA_DIR, 'media')} can be written`,
      mail: `ok the mail server ${mail} accepts our login`,
      identityProvider: 'ok sso is https://id.example.com',
    },
  })
  expect(inBucket).toMatchObject({
    isWell: true,
    outcome: {
      media: `ok the bucket files at ${s3.S3_ENDPOINT} can be written, read and cleared`,
      mail: 'ok SMTP_URL is not set; mails are written to files',
      identityProvider: 'ok OIDC_DISCOVERY_URL is not set; users sign in with passwords',
    },
  })
  expect([...objects.keys()], 'nothing is left in it').toEqual([])
})

it('reports a database whose encoding cannot hold every text, as does a start, which leaves it empty', async () => {
  const url = new URL(inject('serverUrl'))
  await sql(url.href).query(`create database latin encoding 'LATIN1' locale 'C' locale_provider libc template template0`)
  url.pathname = '/latin'
  const { isWell, outcome } = await ask({ DATABASE_URL: url.href })
  expect(isWell).toBe(false)
  const fault = 'the encoding LATIN1 cannot store all text; create a database with the encoding UTF8'
  expect(outcome.database).toBe(`wrong ${fault}`)
  await expect(migrate(url.href)).rejects.toThrow(`The database of DATABASE_URL cannot be used: ${fault}`)
  const { rows } = await sql(url.href).query('select count(*)::int as tables from pg_stat_user_tables')
  expect(rows).toEqual([{ tables: 0 }])
})

it('reports a SECRET_KEY other than the one that sealed the stored secrets, as does a start', async () => {
  const database = await cloneDatabase()
  const rig = await openRig({ databaseUrl: database, working: false })
  await rig.endpoint('http://127.0.0.1:9/')
  const foreign = { SECRET_KEY: 'cd'.repeat(32) }
  expect((await ask({ DATABASE_URL: database, ...foreign })).outcome.secretKey).toMatch(/^wrong SECRET_KEY is not the key/)
  const gateway = await startGateway({ databaseUrl: database, env: foreign })
  expect(gateway.logs.join('\n')).toMatch(/"level":"error".*SECRET_KEY is not the key that encrypted the stored secrets/)
})

it('reports a media store that cannot be written or used', async () => {
  const DATA_DIR = await dataFolder()
  await mkdir(DATA_DIR)
  await writeFile(path.join(DATA_DIR, 'media'), 'not a folder')
  const cases = await Promise.all([
    ask({ DATA_DIR }),
    ask({ ...s3, DATA_DIR }),
    ask({ ...s3, S3_SECRET_ACCESS_KEY: 'the-wrong-secret-of-the-bucket' }),
    ask({ ...s3, S3_ENDPOINT: 'http://127.0.0.1:9' }),
  ])
  expect(cases.map(({ isWell }) => isWell)).toEqual(cases.map(() => false))
  expect(cases.map(({ outcome }) => outcome.media)).toEqual([
    expect.stringMatching(/^wrong .*media\/.* cannot be written \(ENOTDIR\); check DATA_DIR/),
    expect.stringMatching(/^wrong .*media\/.* cannot be written \(ENOTDIR\); check DATA_DIR/),
    expect.stringMatching(/^wrong the bucket files at http:\S+ cannot be used \(the signature is wrong\); check S3_\*$/),
    expect.stringMatching(/^wrong the bucket files at http:\/\/127\.0\.0\.1:9 cannot be used \(.*ECONNREFUSED.*\); check S3_\*$/),
  ])
})

it('reports a mail server that accepts no mail', async () => {
  const mail = await mailServer()
  const cases = await Promise.all([
    ask({ SMTP_URL: `smtp://me:the-wrong-password@${mail}` }),
    ask({ SMTP_URL: 'smtp://127.0.0.1:9' }),
  ])
  expect(cases.map(({ isWell }) => isWell)).toEqual(cases.map(() => false))
  expect(cases.map(({ outcome }) => outcome.mail)).toEqual([
    expect.stringMatching(
      /^wrong the mail server \S+ refused the connection \(Invalid login: .*no such mailbox\); check SMTP_URL$/,
    ),
    expect.stringMatching(/^wrong the mail server 127\.0\.0\.1:9 refused the connection \(.*ECONNREFUSED.*\); check SMTP_URL$/),
  ])
})

it('reports an identity provider whose discovery document is unusable', async () => {
  const bad = [saying('nothing here', 404), saying('<html>'), saying('{"issuer": 1}'), saying('null')]
  const providers = await Promise.all(bad.map(provider))
  // Port 2 is unassigned, and fetch does not block it by itself.
  const cases = await Promise.all([...providers, oidcAt('http://127.0.0.1:2/')].map((env) => ask(env)))
  expect(cases.map(({ isWell }) => isWell)).toEqual(cases.map(() => false))
  expect(cases.map(({ outcome }) => outcome.identityProvider?.replace(/^wrong http:\S+ cannot be used /, ''))).toEqual([
    '(it answered 404); check OIDC_DISCOVERY_URL',
    '(it is not JSON); check OIDC_DISCOVERY_URL',
    '(it has no issuer); check OIDC_DISCOVERY_URL',
    '(it has no issuer); check OIDC_DISCOVERY_URL',
    expect.stringMatching(/^\(.*ECONNREFUSED/),
  ])
})

it('reports a dependency that does not answer, after a bounded wait', async () => {
  const dead = await silent()
  const [files, mail, people] = await Promise.all([
    ask({ ...s3, S3_ENDPOINT: `http://${dead}` }),
    ask({ SMTP_URL: `smtp://me:${password}@${dead}` }),
    ask(oidcAt(`http://${dead}/`)),
  ])
  expect([files.isWell, mail.isWell, people.isWell]).toEqual([false, false, false])
  expect(files.outcome.media).toBe(`wrong the bucket files at http://${dead} cannot be used (no answer within 5 s); check S3_*`)
  expect(mail.outcome.mail).toMatch(/^wrong .* refused the connection \(Greeting never received\); check SMTP_URL$/)
  expect(people.outcome.identityProvider).toMatch(/^wrong .* cannot be used \(.*timeout\); check OIDC_DISCOVERY_URL$/)
}, 15_000)
