// A workspace with one object of every kind that routes and bodies name.
import { newId } from '../../src/core/id.ts'
import { type Account, connectedInstance } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { newNumber } from './rig.ts'

/** The kinds named in paths, by the last collection in the path; `received` is a message that came in. */
const inPaths = [
  'messages',
  'received',
  'campaigns',
  'instances',
  'contacts',
  'groups',
  'jobs',
  'templates',
  'media',
  'webhooks',
  'deliveries',
] as const
/** The kinds named in bodies and lists, by field. They differ from the objects in paths, so a deletion by path breaks none. */
const inBodies = ['instanceId', 'contactId', 'groupId', 'templateId'] as const

export const kinds = [...inPaths, ...inBodies]
export type Kind = (typeof kinds)[number]
/** A number in the do-not-contact list of every workspace that is furnished. */
export const suppressedNumber = '+4915112340022'
/** One id of each kind. */
export type Things = Record<Kind, string>

/** Creates all of them. Webhooks point to a closed port. */
export async function furnish(databaseUrl: string, account: Account, api: Api): Promise<Things> {
  async function make(path: string, body?: unknown): Promise<string> {
    const answer = await api.post(path, body)
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body.data.id ?? answer.body.data.jobId
  }
  const twice = async (one: (name: string) => Promise<string>) => [await one('First'), await one('Second')] as [string, string]
  const body = 'Hello {{contact.firstName | default: "you"}}, order {{custom.order | default: "?"}} left.'
  const [instances, instanceId] = await twice(async (name) => (await connectedInstance(databaseUrl, account, { name })).id)
  const [contacts, contactId] = await twice((name) => make('contacts', { name, phone: newNumber(), tags: ['vip'] }))
  const [groups, groupId] = await twice((name) => make('contacts/groups', { name }))
  for (const group of [groups, groupId]) await api.post(`contacts/groups/${group}/members`, { contactIds: [contacts, contactId] })
  const [templates, templateId] = await twice((name) => make('templates', { name, type: 'text', body }))
  await api.post('suppressions', { phone: suppressedNumber })
  const webhooks = await make('webhooks', { url: 'http://127.0.0.1:9/', events: ['message.sent'] })
  const deliveries = await make(`webhooks/${webhooks}/test`)
  const jobs = await make('contacts/bulk-delete', { contactIds: Array.from({ length: 100 }, newId) })
  const text = { instanceId, type: 'text', text: 'Hello', scheduledAt: new Date(Date.now() + 86_400_000).toISOString() }
  const messages = await make('messages/schedule', { ...text, to: newNumber() })
  const received = await make(`instances/${instanceId}/sandbox/inbound`, { from: newNumber(), text: 'Hi' })
  const campaigns = await make('campaigns', { ...text, name: 'News', recipients: [{ to: newNumber() }] })
  const media = await storedFile(databaseUrl, account)
  return {
    ...{ messages, received, campaigns, instances, contacts, groups, jobs, templates, media, webhooks, deliveries },
    ...{ instanceId, contactId, groupId, templateId },
  }
}

/** Inserts the row of an uploaded file whose bytes do not exist, and returns its id. */
async function storedFile(databaseUrl: string, { workspaceId }: Pick<Account, 'workspaceId'>): Promise<string> {
  const id = newId()
  await sql(databaseUrl).query(
    `insert into media (id, "workspaceId", token, "mimeType", size, "storedAt") values ($1::uuid, $2, $1::text, 'text/plain', 5, now())`,
    [id, workspaceId],
  )
  return id
}

/** All rows of a workspace except its API keys, as one digest per table; an unchanged table has an equal digest. */
export async function keptOf(databaseUrl: string, workspaceId: string): Promise<Record<string, string>> {
  const pool = sql(databaseUrl)
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'workspaceId' and table_name <> 'api_keys' order by 1`,
  )
  const digests = tables.map(
    ({ name }) =>
      `select '${name}' as name, md5(coalesce(string_agg(t::text, '' order by t::text), '')) as digest from ${name} t where "workspaceId" = $1`,
  )
  const { rows } = await pool.query<{ name: string; digest: string }>(digests.join(' union all '), [workspaceId])
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
}
