// contacts-page: a page from the middle of 1,000,000 contacts, in every order, against the first page and against bare SQL.
import { encodeCursor } from '../../src/core/graph/page-cursor.ts'
import { newId } from '../../src/core/id.ts'
import type { Figures } from './accept.ts'
import { type Account, median, openStage, type Running, type Stage } from './stage.ts'

const contacts = 1_000_000
const reads = 100
const searchReads = 7
const lists = ['createdAt:desc', 'createdAt:asc', 'name:asc', 'name:desc', 'members'] as const
type List = (typeof lists)[number]

interface Scene {
  stage: Stage
  account: Account
  /** Every contact is a member of it. */
  groupId: string
  gateway: Running
  baseline: Running
}

export async function benchContactsPage(): Promise<Figures[]> {
  await using stage = await openStage(1)
  const account = stage.accounts[0] as Account
  const groupId = await fill(stage, account)
  await using gateway = await stage.start('src/main.ts', { ROLES: 'http' })
  await using baseline = await stage.start('test/bench/baseline-page.ts')
  const scene = { stage, account, groupId, gateway, baseline }
  const figures: Figures[] = []
  for (const list of lists) figures.push(...(await measurePages(scene, list, await middleOf(scene, list))))
  for (const [what, path, bound] of searches(groupId)) {
    const ms = await timeOf(() => read(scene, path), searchReads)
    figures.push({
      name: `contacts-page: ${what}`,
      unit: 'ms',
      baseline: bound,
      gateway: ms,
      ratio: ms / bound,
      target: `≤ ${bound} ms`,
    })
  }
  return figures
}

/** Inserts all rows at once without foreign key checks, and builds the indexes only after the rows are in. */
async function fill({ pool }: Stage, { workspaceId }: Account): Promise<string> {
  const groupId = newId()
  const client = await pool.connect()
  await client.query(`set session_replication_role = replica; set maintenance_work_mem = '256MB'`)
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = any('{contacts,contact_group_members}'::regclass[]) and not indisunique`,
  )
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  // Fifty contacts share a moment, as after an import.
  await client.query(
    `insert into contacts (id, "workspaceId", name, phone, email, tags, "createdAt")
     select uuidv7(), $1, (array['Anna','Bruno','Иван','Müller','王小明','Zoë','Carla','Dmitri','Élodie','Fatima'])[1 + i % 10] || ' ' || md5(i::text),
       '+39' || (3000000000 + i), 'c' || i || '@example.com', array['imported'], now() - make_interval(secs => i / 50)
     from generate_series(1, $2::int) i`,
    [workspaceId, contacts],
  )
  await client.query('insert into contact_groups (id, "workspaceId", name, "membersCount") values ($1, $2, $3, $4)', [
    groupId,
    workspaceId,
    'Everybody',
    contacts,
  ])
  // 10,000 members join at once, the most that one request may add.
  await client.query(
    `insert into contact_group_members ("groupId", "contactId", "addedAt")
     select $1, id, now() - make_interval(secs => row_number() over (order by id) / 10000) from contacts`,
    [groupId],
  )
  for (const { definition } of indexes) await client.query(definition)
  client.release(true)
  await pool.query('vacuum analyze contacts, contact_groups, contact_group_members')
  console.error(`contacts-page: ${contacts} contacts, all in one group`)
  return groupId
}

async function measurePages(scene: Scene, list: List, { cursor, value, id }: Middle): Promise<Figures[]> {
  const path = list === 'members' ? `contacts/groups/${scene.groupId}/members?` : `contacts?sort=${list}&`
  const sort = list === 'members' ? 'addedAt:desc' : list
  const of = list === 'members' ? scene.groupId : scene.account.workspaceId
  const query = new URLSearchParams({ of, sort, value, id })
  const times = { first: [] as number[], middle: [] as number[], bare: [] as number[] }
  // Alternating, so that other load on the machine affects all three alike.
  for (let i = -20; i < reads; i++) {
    const first = await timed(() => read(scene, `${path}limit=50`))
    const middle = await timed(() => read(scene, `${path}limit=50&cursor=${cursor}`))
    const bare = await timed(() => fetch(`${scene.baseline.url}/page?${query}`))
    if (i < 0) continue
    times.first.push(first)
    times.middle.push(middle)
    times.bare.push(bare)
  }
  const [first, middle, bare] = [median(times.first), median(times.middle), median(times.bare)]
  const figure = (what: string, baseline: number, target: string): Figures => ({
    name: `contacts-page: ${list}, ${what}`,
    unit: 'ms',
    baseline,
    gateway: middle,
    ratio: middle / baseline,
    target,
  })
  return [figure('middle beside first', first, '≤ 1.2 ×'), figure('middle beside bare SQL', bare, '≤ 3 ×')]
}

/** A position in a list: its cursor, and the values that the cursor stands for. */
interface Middle {
  cursor: string
  value: string
  id: string
}

/** Makes the cursor of the middle row. A walk from the first page would take longer than everything that is measured. */
async function middleOf({ stage, account, groupId }: Scene, list: List): Promise<Middle> {
  const isMembers = list === 'members'
  const [field, direction] = isMembers ? ['addedAt', 'desc'] : (list.split(':') as [string, string])
  const [table, of, id] = isMembers ? ['contact_group_members', 'groupId', 'contactId'] : ['contacts', 'workspaceId', 'id']
  const { rows } = await stage.pool.query<{ id: string; value: string | Date }>(
    `select "${id}" as id, "${field}" as value from ${table} where "${of}" = $1
     order by "${field}" ${direction}, "${id}" ${direction} offset $2 limit 1`,
    [isMembers ? groupId : account.workspaceId, contacts / 2],
  )
  const row = rows[0] as { id: string; value: string | Date }
  const binding = isMembers
    ? ['members', groupId, null]
    : ['contacts', account.workspaceId, null, null, null, list.replace(':', '_')]
  const value = row.value instanceof Date ? row.value.toISOString() : row.value
  return { cursor: encodeCursor(JSON.stringify(binding), row.value, row.id), value, id: row.id }
}

function searches(groupId: string): [what: string, path: string, boundMs: number][] {
  const members = `contacts/groups/${groupId}/members`
  return [
    ['search, by index, for few', 'contacts?search=d41d8c', 50],
    ['search, by index, for none', 'contacts?search=no-such-name', 50],
    ['search, for many', 'contacts?search=anna', 50],
    ['search, for 100,000 at the far end', 'contacts?search=anna&sort=name:desc', 1_000],
    ['search in a group, for 100,000 at the far end', `contacts?search=anna&sort=name:desc&groupId=${groupId}`, 1_000],
    // Trigrams cannot serve a term that is too short or of a script they do not cover, so all rows are read.
    ['search, two letters, for none', 'contacts?search=zq', 1_000],
    ['search, Cyrillic, for none', `contacts?search=${encodeURIComponent('пётр')}`, 1_000],
    ['search among members, for few', `${members}?search=d41d8c`, 50],
    ['search among members, for 100,000, counted', `${members}?search=anna`, 1_000],
  ]
}

async function read({ gateway, account }: Scene, path: string): Promise<Response> {
  return await fetch(`${gateway.url}/api/v1/${path}`, { headers: { 'x-api-key': account.apiKey } })
}

/** The milliseconds until the last byte has arrived. */
async function timed(ask: () => Promise<Response>): Promise<number> {
  const begun = performance.now()
  const response = await ask()
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`A page was answered ${response.status}`)
  return performance.now() - begun
}

async function timeOf(ask: () => Promise<Response>, times: number): Promise<number> {
  const taken: number[] = []
  for (let i = 0; i < times; i++) taken.push(await timed(ask))
  return median(taken)
}
