// The demo account on an empty database. Its key and its instance are printed once, in commands that are ready to paste.
import { createHmac } from 'node:crypto'
import { keyHash } from '../accounts/keys/api-keys.ts'
import { insertAccount } from '../accounts/service.ts'
import type { App } from '../core/app.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { sandboxNumber } from '../providers/sandbox/script.ts'
import { lockUsers } from './demo.sql.ts'

/** The name of a link's token in the URL fragment, which browsers do not send to servers. */
const linkName = 'link'

export const demoEmail = 'demo@example.com'

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
  return await transaction(app.db, async (tx) => {
    // Serializes concurrent starts, so that only one process creates it.
    await lockUsers(tx)
    if ((await tx.db.user.count()) > 0) return undefined
    const account = { email: demoEmail, name: 'Demo', plan: 'pro', firstKey: keyOf(app) }
    const { userId, workspaceId, apiKey } = await insertAccount(tx, account)
    await insertInstance(tx, { userId, workspaceId, seed: app.config.sandboxSeed })
    await insertContacts(tx, workspaceId)
    return { apiKey, instanceId: demoIds.instanceId }
  })
}

/** Returns the first key of the demo account while it is valid; undefined if it was revoked, does not exist, or is not that user's. */
export async function demoKey(app: App, userId?: string): Promise<string | undefined> {
  const key = keyOf(app)
  const found = await app.db.apiKey.count({ where: { hash: keyHash(key), revokedAt: null, userId } })
  return found > 0 ? key : undefined
}

/** Derives the key from SECRET_KEY. Only its hash and prefix are stored, but a process with the secret can derive it again. */
function keyOf(app: App): string {
  const { secretKey } = app.secrets
  if (!secretKey) throw new Error('SECRET_KEY is not set')
  return `svc_live_${createHmac('sha256', secretKey).update('key of the demo account').digest('hex')}`
}

async function insertInstance({ db }: Tx, owner: { userId: string; workspaceId: string; seed: number }): Promise<void> {
  const { seed, ...ids } = owner
  const { instanceId: id } = demoIds
  const now = new Date()
  await db.instance.create({
    data: {
      ...ids,
      id,
      name: 'Demo phone',
      provider: 'sandbox',
      status: 'connected',
      waNumber: sandboxNumber(seed, id),
      firstConnectedAt: now,
      lastConnectedAt: now,
    },
  })
}

/** Inserts a contact, a group that contains it, and a template that uses its fields. */
async function insertContacts({ db }: Tx, workspaceId: string): Promise<void> {
  const { contactId, groupId, templateId } = demoIds
  const name = { name: 'Ada Lovelace', firstName: 'Ada', lastName: 'Lovelace' }
  await db.contact.create({ data: { id: contactId, workspaceId, ...name, phone: '+4915112345678', tags: ['demo'] } })
  const group = { name: 'Customers', description: 'Created with the demo account', membersCount: 1 }
  await db.contactGroup.create({ data: { id: groupId, workspaceId, ...group, members: { create: { contactId } } } })
  const body = 'Hello {{contact.firstName}}, your order {{custom.order}} is on its way.'
  await db.template.create({ data: { id: templateId, workspaceId, name: 'Order shipped', type: 'text', body } })
}

/** Returns the text that is printed for a new user, with the address that the server listens on. */
export function demoText(demo: Demo, address: string): string {
  return `
A demo account was created. Its key is shown only now:

  ${demo.apiKey}

Watch the events in one terminal:

  curl -N ${address}/api/v1/events/stream -H 'x-api-key: ${demo.apiKey}'

Send a message from its sandbox phone (instance ${demo.instanceId}) in another:

  curl ${address}/api/v1/messages/send -H 'x-api-key: ${demo.apiKey}' -H 'content-type: application/json' \\
    -d '{"instanceId":"${demo.instanceId}","to":"+4915112345678","type":"text","text":"Hello"}'
`
}

/** Returns the text that is printed at each start: links that each give the key to a page once. `link` returns a new token. */
export function demoLinks(address: string, link: () => string): string {
  return `
Open these pages with the key of the demo. Each link works once, for ten minutes:

  REST     ${address}/docs#${linkName}=${link()}
  GraphQL  ${address}/graphql#${linkName}=${link()}
`
}
