// The demo account on an empty database. Its key and its instance are printed once, in commands that are ready to paste.
import { createHmac } from 'node:crypto'
import { insertAccount, keyHash } from '../accounts/service.ts'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { sandboxNumber } from '../providers/sandbox/script.ts'

/** The name of a link's token in the URL fragment, which browsers do not send to servers. */
export const linkName = 'link'

export interface Demo {
  apiKey: string
  instanceId: string
}

/** The same ids in every installation, so that the examples in the API documentation work unchanged. */
export const demoIds = {
  instanceId: '01980000-0000-7000-8000-000000000001',
  contactId: '01980000-0000-7000-8000-000000000002',
  groupId: '01980000-0000-7000-8000-000000000003',
  templateId: '01980000-0000-7000-8000-000000000004',
} as const

/** Creates the demo account if there is no account yet; otherwise returns undefined. */
export async function createDemo(app: App): Promise<Demo | undefined> {
  return await sqlTransaction(app.pool, async (tx) => {
    // Serializes concurrent starts, so that only one process creates it.
    await tx.query('lock table users in exclusive mode')
    const { rows } = await tx.query<{ any: boolean }>('select exists (select from users) as any')
    if (rows[0]?.any) return undefined
    const account = { email: 'demo@example.com', name: 'Demo', plan: 'pro' }
    const { userId, workspaceId, apiKey } = await insertAccount(tx, account, keyOf(app))
    await insertInstance(tx, { userId, workspaceId, seed: app.config.sandboxSeed })
    await insertContacts(tx, workspaceId)
    return { apiKey, instanceId: demoIds.instanceId }
  })
}

/** Returns the first key of the demo account while it is valid; undefined if it was revoked, does not exist, or is not that user's. */
export async function demoKey(app: App, userId?: string): Promise<string | undefined> {
  const key = keyOf(app)
  const { rowCount } = await app.pool.query(
    'select from api_keys where hash = $1 and "revokedAt" is null and ($2::uuid is null or "userId" = $2)',
    [keyHash(key), userId ?? null],
  )
  return rowCount ? key : undefined
}

/** Derives the key from SECRET_KEY. Only its hash and prefix are stored, but a process with the secret can derive it again. */
function keyOf(app: App): string {
  const { secretKey } = app.secrets
  if (!secretKey) throw new Error('SECRET_KEY is not set')
  return `svc_live_${createHmac('sha256', secretKey).update('key of the demo account').digest('hex')}`
}

async function insertInstance(tx: Sql, owner: { userId: string; workspaceId: string; seed: number }): Promise<void> {
  const { instanceId } = demoIds
  await tx.query(
    `insert into instances (id, "workspaceId", "userId", name, provider, status, "waNumber", "firstConnectedAt", "lastConnectedAt")
      values ($1, $2, $3, 'Demo phone', 'sandbox', 'connected', $4, now(), now())`,
    [instanceId, owner.workspaceId, owner.userId, sandboxNumber(owner.seed, instanceId)],
  )
}

/** Inserts a contact, a group that contains it, and a template that uses its fields. */
async function insertContacts(tx: Sql, workspaceId: string): Promise<void> {
  const { contactId, groupId, templateId } = demoIds
  await tx.query(
    `insert into contacts (id, "workspaceId", name, "firstName", "lastName", phone, tags)
      values ($1, $2, 'Ada Lovelace', 'Ada', 'Lovelace', '+4915112345678', '{demo}')`,
    [contactId, workspaceId],
  )
  await tx.query(
    `insert into contact_groups (id, "workspaceId", name, description, "membersCount")
      values ($1, $2, 'Customers', 'Made with the demo account', 1)`,
    [groupId, workspaceId],
  )
  await tx.query('insert into contact_group_members ("groupId", "contactId") values ($1, $2)', [groupId, contactId])
  await tx.query(`insert into templates (id, "workspaceId", name, type, body) values ($1, $2, 'Order shipped', 'text', $3)`, [
    templateId,
    workspaceId,
    'Hello {{contact.firstName}}, your order {{custom.order}} is on its way.',
  ])
}

/** Returns the text that is printed for a new user, with the address that the server listens on. */
export function demoText(demo: Demo, address: string): string {
  return `
A demo account was made. Its key is shown this once:

  ${demo.apiKey}

Watch what happens, in one terminal:

  curl -N ${address}/api/v1/events/stream -H 'x-api-key: ${demo.apiKey}'

Send a message from its sandbox phone (instance ${demo.instanceId}), in another:

  curl ${address}/api/v1/messages/send -H 'x-api-key: ${demo.apiKey}' -H 'content-type: application/json' \\
    -d '{"instanceId":"${demo.instanceId}","to":"+4915112345678","type":"text","text":"Hello"}'
`
}

/** Returns the text that is printed at each start: links that each give the key to a page once. `link` returns a new token. */
export function demoLinks(address: string, link: () => string): string {
  return `
With the demo's key in a browser, by links that work once and for ten minutes:

  REST     ${address}/docs#${linkName}=${link()}
  GraphQL  ${address}/graphql#${linkName}=${link()}
`
}
