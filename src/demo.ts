// The account that a newcomer finds on an empty database: its key and instance are told once, ready to paste.
import { insertAccount } from './accounts/service.ts'
import type { App } from './core/app.ts'
import { type Sql, transaction } from './core/database.ts'
import { newId } from './core/id.ts'
import { sandboxNumber } from './providers/sandbox/script.ts'

export interface Demo {
  apiKey: string
  instanceId: string
}

/** Makes it when nobody has an account yet; undefined otherwise. */
export async function createDemo(app: App): Promise<Demo | undefined> {
  return await transaction(app.pool, async (tx) => {
    // Two processes that start together make one.
    await tx.query('lock table users in exclusive mode')
    const { rows } = await tx.query<{ any: boolean }>('select exists (select from users) as any')
    if (rows[0]?.any) return undefined
    const { userId, workspaceId, apiKey } = await insertAccount(tx, { email: 'demo@example.com', name: 'Demo', plan: 'pro' })
    const instanceId = await insertConnectedInstance(tx, { userId, workspaceId, seed: app.config.sandboxSeed })
    return { apiKey, instanceId }
  })
}

async function insertConnectedInstance(tx: Sql, owner: { userId: string; workspaceId: string; seed: number }): Promise<string> {
  const id = newId()
  await tx.query(
    `insert into instances (id, "workspaceId", "userId", name, provider, status, "waNumber", "firstConnectedAt", "lastConnectedAt")
      values ($1, $2, $3, 'Demo phone', 'sandbox', 'connected', $4, now(), now())`,
    [id, owner.workspaceId, owner.userId, sandboxNumber(owner.seed, id)],
  )
  return id
}

/** What the newcomer reads, with the address that the server listens on. */
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
