// Rig of the contact list tests: 45 contacts, paging to the end, and the order that PostgreSQL gives.
import { expect } from 'vitest'
import { sql } from '../kit/database.ts'
import { newNumber, newTenant, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'

export const sorts = ['createdAt:desc', 'createdAt:asc', 'name:asc', 'name:desc'] as const

/** Opens a rig with an account of 45 contacts: every third shares one name, and groups of five share their time. */
export async function openLists(): Promise<{ rig: Rig; tenant: Tenant }> {
  const rig = await openRig()
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  await sql(rig.databaseUrl).query(
    `insert into contacts (id, "workspaceId", name, phone, tags, "createdAt")
     select gen_random_uuid(), $1, case when i % 3 = 0 then 'Same' else chr(64 + i % 26) || i end, '+4915112340' || (100 + i),
       case when i % 2 = 0 then array['even'] else '{}' end, now() - make_interval(secs => i / 5) from generate_series(1, 45) i`,
    [tenant.account.workspaceId],
  )
  return { rig, tenant }
}

export interface Row {
  id: string
  name: string
  phone: string
  createdAt: string
}

export interface Page {
  contacts: Row[]
  nextCursor: string | null
  hasMore: boolean
}

export async function page({ api }: Tenant, query: string, cursor?: string | null): Promise<Page> {
  const { status, body } = await api.get(`contacts?${query}${cursor ? `&cursor=${cursor}` : ''}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data
}

/** Reads all pages; `after` runs after each one. */
export async function walk(of: Tenant, query: string, after: (page: Page) => Promise<unknown> = async () => {}): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const next: Page = await page(of, query, cursor)
    expect(next.hasMore).toBe(next.nextCursor !== null)
    rows.push(...next.contacts)
    cursor = next.nextCursor
    await after(next)
  } while (cursor)
  return rows
}

export const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
export const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name)

export async function add({ api }: Tenant, fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await api.post('contacts', { name: 'Ada', phone: newNumber(), ...fields })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.data.id
}

/** The ids in the order that PostgreSQL gives. */
export async function ordered({ databaseUrl }: Rig, { account }: Tenant, sort: string, where = 'true'): Promise<string[]> {
  const [field, direction] = sort.split(':')
  const { rows } = await sql(databaseUrl).query(
    `select id from contacts where "workspaceId" = $1 and ${where} order by "${field}" ${direction}, id ${direction}`,
    [account.workspaceId],
  )
  return ids(rows)
}
