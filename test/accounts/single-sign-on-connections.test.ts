// Single sign-on of new people while few connections to the database are free.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { invited, newTeam } from '../teams/rig.ts'
import { browse, openProvider } from './identity-provider.ts'
import { consoleUrl } from './single-sign-on-rig.ts'

it('takes one connection at a time, so that new people who come together do not wait for each other', async () => {
  const databaseUrl = await cloneDatabase()
  const provider = await openProvider()
  const env = { ...provider.env, CONSOLE_URL: consoleUrl, SIGNUP: 'invited', ROLES: 'http' }
  const gateway = await openGateway({ databaseUrl, env })
  const start = `${gateway.url}/api/auth/oauth/example`
  provider.allow(`${start}/callback`)
  const rig = { databaseUrl, gateway, mailDir: '' }
  const { teamId } = await newTeam(rig, await createAccount(databaseUrl))
  const email = `${randomUUID()}@example.com`
  await invited(rig, teamId, email)
  provider.claims = { sub: randomUUID(), email, email_verified: true, name: 'Ada' }
  const { pool } = gateway.app
  const taken = await Promise.all(Array.from({ length: pool.options.max - 1 }, () => pool.connect()))
  // The gateway closes a connection that is silent for long. It stays taken.
  for (const connection of taken) connection.on('error', () => {})
  try {
    const { location, cookies } = await browse(start, [gateway.url, `http://127.0.0.1:${provider.port}`])
    expect([location, cookies.has('gateway.session_token')]).toEqual([`${consoleUrl}/`, true])
  } finally {
    for (const connection of taken) connection.release()
  }
})
