// Creates the accounts and instances that most tests begin with.
import { randomUUID } from 'node:crypto'
import * as accounts from '../../src/accounts/service.ts'
import { newId } from '../../src/core/id.ts'
import { sandboxNumber } from '../../src/providers/sandbox/script.ts'
import { prisma, sql } from './database.ts'

export interface Account {
  userId: string
  workspaceId: string
  email: string
  apiKey: string
}

/** A verified account with its first key; on the `max` plan by default. */
export async function createAccount(
  databaseUrl: string,
  options: { plan?: 'free' | 'pro' | 'max'; email?: string } = {},
): Promise<Account> {
  const { plan = 'max', email = `${randomUUID()}@example.com` } = options
  return await accounts.createAccount(prisma(databaseUrl), { email, name: 'Test', plan })
}

export interface InstanceOptions {
  name?: string
  /** The days since it first connected; 30 makes it `stable`, so that it causes no warnings. */
  ageDays?: number
  status?: 'created' | 'connected' | 'disconnected'
  settings?: Record<string, unknown>
}

export interface TestInstance {
  id: string
  waNumber: string
}

/** A sandbox instance of the account, connected by default. */
export async function connectedInstance(
  databaseUrl: string,
  account: { userId: string; workspaceId: string },
  options: InstanceOptions = {},
): Promise<TestInstance> {
  const { name = 'Phone', ageDays = 30, status = 'connected', settings = {} } = options
  const id = newId()
  const waNumber = sandboxNumber(1, id)
  await sql(databaseUrl).query(
    `insert into instances (id, "workspaceId", "userId", name, provider, status, settings, "waNumber", "firstConnectedAt", "lastConnectedAt")
      values ($1, $2, $3, $4, 'sandbox', $5, $6, $7, now() - make_interval(days => $8), now())`,
    [id, account.workspaceId, account.userId, name, status, JSON.stringify(settings), waNumber, ageDays],
  )
  return { id, waNumber }
}
