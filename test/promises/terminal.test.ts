// Proves that names, server answers and errors are printed as plain text on an operator's terminal and cannot inject control
// characters.
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect, it } from 'vitest'
import { createApiKey } from '../../src/accounts/keys/api-keys.ts'
import { createAccount as insertAccount } from '../../src/accounts/service.ts'
import { createLog } from '../../src/core/log.ts'
import { sentenceOf } from '../../src/core/sentence.ts'
import { createTeam } from '../../src/teams/service.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, prisma } from '../kit/database.ts'

/**
 * Sets the window title, clears the screen with a C1 code, adds a line, reverses the text direction, and ends with a line
 * separator.
 */
const hostile = 'A\x1b]0;owned\x07\u009b2J\r\nok     all: well\u202etxt.exe\u2066\u200f\u2028\x7f'
/** Characters that control a terminal, except the line feeds that end the command's own lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const obeyed = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

const email = 'ada@example.com'

/** Starts a server, which is closed at the end of the test; returns its port. */
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd('test', async () => void server.close())
  return (server.address() as AddressInfo).port
}

it('every command that lists names prints each on one line, and its JSON output keeps them, escaped', async () => {
  const databaseUrl = await cloneDatabase()
  const db = prisma(databaseUrl)
  const account = await insertAccount(db, { email, name: hostile, plan: 'max' })
  await createApiKey(db, { email, name: hostile })
  await connectedInstance(databaseUrl, account, { name: hostile })
  const { teamId } = await createTeam(db, { ownerEmail: email, name: hostile })
  const lists = [
    ['account', 'list'],
    ['team', 'list'],
    ['team', 'members', '--id', teamId],
    ['api-key', 'list', '--email', email],
    ['instance', 'list'],
  ]
  const made = ['api-key', 'create', '--email', email, '--name', hostile]
  for (const args of [...lists, made]) {
    const [shown, json] = await Promise.all([command(args, { databaseUrl }), command([...args, '--json'], { databaseUrl })])
    for (const { code, stdout, stderr } of [shown, json]) {
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout, args.join(' ')).not.toMatch(obeyed)
    }
    expect(shown.stdout).not.toMatch(/^ok/m)
    const rows = [JSON.parse(json.stdout)].flat()
    if (args !== lists[0] && args !== lists[2]) expect(rows.map(({ name }) => name)).toContain(hostile)
  }
})

it('the doctor prints the answers of a mail server and of an identity provider on one line each', async () => {
  const mail = await listen(createServer((socket) => void socket.on('error', () => {}).end(`554 ${hostile}\r\n`)))
  const provider = await listen(createHttp((_, response) => response.end(JSON.stringify({ issuer: hostile }))))
  const env = {
    SMTP_URL: `smtp://127.0.0.1:${mail}`,
    OIDC_DISCOVERY_URL: `http://127.0.0.1:${provider}/`,
    OIDC_CLIENT_ID: 'x',
    OIDC_CLIENT_SECRET: 'x',
  }
  const { stdout } = await command(['doctor'], { databaseUrl: await cloneDatabase(), env })
  expect(stdout).not.toMatch(obeyed)
  expect(stdout.match(/^(ok|wrong) +\w+/gm)?.map((line) => line.split(/ +/)[1])).toEqual(
    expect.arrayContaining(['media', 'mail', 'identityProvider']),
  )
  expect(stdout).not.toContain('all: well\n')
})

it('a log entry is one line of JSON that parses to the original values', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  log.warn({ name: hostile, err: new Error(hostile) }, hostile)
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toMatch(obeyed)
  expect(JSON.parse(lines[0] as string)).toMatchObject({ name: hostile, err: { message: hostile }, msg: hostile })
})

it("an error message contains no control characters, and keeps the line breaks of the gateway's own messages", () => {
  const outcome = sentenceOf(Object.assign(new Error(`first ${hostile}`), { code: '28P01' }))
  expect(outcome).not.toMatch(obeyed)
  expect(sentenceOf(new Error('PORT: is wrong\nROLES: is wrong'))).toBe('PORT: is wrong\nROLES: is wrong')
})
