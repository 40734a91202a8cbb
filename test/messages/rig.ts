// Setup for tests of operations: an App in this process on a clone of the database, without workers of its own.
import { openApp as openGateway } from '../../src/app.ts'
import type { App } from '../../src/core/app.ts'
import { readConfig } from '../../src/core/config/config.ts'
import type { Context } from '../../src/core/context.ts'
import { contextOf } from '../../src/http/authenticate.ts'
import { readExpiring } from '../../src/messages/retention/retention.sql.ts'
import { sweepMessages } from '../../src/messages/retention/sweep.ts'
import { createQueues } from '../../src/worker.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { until } from '../kit/until.ts'

/** The App ends with the test, or with the file when no test runs. */
export async function openApp(databaseUrl: string, env: Record<string, string> = {}): Promise<App> {
  const { config, secrets } = readConfig({
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    LOG_LEVEL: 'silent',
    ROLES: 'http',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
    SANDBOX_LATENCY_MS: '20',
    ...env,
  })
  const app = await openGateway({ config, secrets, databaseUrl })
  atEnd('test', async () => {
    await app[Symbol.asyncDispose]()
  })
  await app.boss.start()
  await createQueues(app)
  return app
}

/** A new account with a connected phone, and an App of its own. */
export async function openWorkspace(databaseUrl: string): Promise<{ app: App; ctx: Context; instanceId: string }> {
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const app = await openApp(databaseUrl)
  return { app, ctx: contextFor(app, account), instanceId }
}

/** Makes scheduled messages due now, after a test has checked the state before that. */
export async function bringForward(databaseUrl: string, ids: readonly string[]): Promise<void> {
  const pool = sql(databaseUrl)
  await pool.query('update messages set "scheduledAt" = now(), "dueAt" = now() where id = any($1)', [ids])
  await pool.query(`update pgboss.job set start_after = now() where data->>'id' = any($1)`, [ids])
}

/** Sweeps until no message has expired. The gateway's own sweep, each minute, may hold some of them. */
export async function sweepExpired(app: App): Promise<void> {
  await until(async () => {
    await sweepMessages(app)
    return (await readExpiring(app.pool, 0)).length === 0
  })
}

/** The context of the account's own key. */
export function contextFor(app: App, account: Account, plan = 'max'): Context {
  const { userId, workspaceId } = account
  const principal = {
    credentialId: userId,
    kind: 'personal',
    access: 'full',
    userId,
    workspaceId,
    teamId: null,
    role: null,
    ownerId: userId,
    plan,
    active: true,
  } as const
  return contextOf(app, principal, 'test')
}
