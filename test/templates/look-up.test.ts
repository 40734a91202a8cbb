// Rendering templates for a bulk of messages costs one query for each kind of record, regardless of the number of messages.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import { sendMessages } from '../../src/messages/service.ts'
import { connectedInstance, createAccount, type TestInstance } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { contextFor, openApp } from '../messages/rig.ts'

let databaseUrl: string
let app: App
let ctx: Context
let instance: TestInstance
let templateId: string
/** The SQL statements that the app sent. */
const statements: string[] = []

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  app = await openApp(databaseUrl)
  const watched = new Set<unknown>()
  // The pool may have opened connections already, so that `connect` would miss them.
  app.pool.on('acquire', (client) => {
    if (watched.has(client)) return
    watched.add(client)
    const query = client.query.bind(client) as (...given: unknown[]) => unknown
    client.query = ((statement: string | { text: string }, ...rest: unknown[]) => {
      statements.push(typeof statement === 'string' ? statement : statement.text)
      return query(statement, ...rest)
    }) as typeof client.query
  })
  const account = await createAccount(databaseUrl)
  ctx = contextFor(app, account)
  instance = await connectedInstance(databaseUrl, account)
  templateId = newId()
  const pool = sql(databaseUrl)
  const template = `insert into templates (id, "workspaceId", name, type, body) values ($1, $2, 'x', 'text', 'Hi {{contact.name}}')`
  await pool.query(template, [templateId, account.workspaceId])
  await pool.query(
    `insert into contacts (id, "workspaceId", name, phone, tags) select gen_random_uuid(), $1, 'Ada', '+39333123' || 1000 + n, '{}' from generate_series(1, 200) n`,
    [account.workspaceId],
  )
})

/** Counts the statements of one bulk that read each of these tables. */
async function readsOf(messages: Record<string, unknown>[]): Promise<Record<string, number>> {
  statements.length = 0
  const { accepted } = await sendMessages(ctx, messages)
  expect(accepted).toHaveLength(messages.length)
  const reads = (table: string) => statements.filter((text) => new RegExp(`from ${table}\\b`).test(text)).length
  return { templates: reads('templates'), contacts: reads('contacts') }
}

function message(n: number): Record<string, unknown> {
  return { instanceId: instance.id, to: `+39333123${1000 + n}` }
}

const many = Array.from({ length: 200 }, (_, i) => i + 1)

it('reads templates in one query, and contacts in one query by number and one by id', async () => {
  expect(await readsOf(many.map((n) => ({ ...message(n), templateId })))).toEqual({ templates: 1, contacts: 1 })
  const { rows } = await sql(databaseUrl).query<{ id: string }>('select id from contacts')
  const named = many.map((n, i) => ({ ...message(n), templateId, ...(n % 2 === 0 && { contactId: rows[i]?.id }) }))
  expect(await readsOf(named)).toEqual({ templates: 1, contacts: 2 })
})

it('reads the contacts of messages without a template in one query by number', async () => {
  expect(await readsOf(many.map((n) => ({ ...message(n), type: 'text', text: 'Hello' })))).toEqual({ templates: 0, contacts: 1 })
})
