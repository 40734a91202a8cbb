// contacts-page: a page from the middle of 1,000,000 contacts, in every order, against the first page and against bare SQL.
import { newId } from '../../src/core/id.ts'
import type { Figures } from './accept.ts'
import { type Account, median, openStage, type Running, type Stage } from './stage.ts'

const contacts = 1_000_000
const reads = 200
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
  const middles = await Promise.all(lists.map((list) => walkToTheMiddle(scene, list)))
  for (const [i, list] of lists.entries()) figures.push(...(await measurePages(scene, list, middles[i] as Middle)))
  for (const [what, path, bound] of searches(groupId)) {
    const ms = await timeOf(() => read(scene, path), 20)
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

/** Inserts all rows at once without foreign key checks, and builds the search index only after the contacts are in. */
async function fill({ pool }: Stage, { workspaceId }: Account): Promise<string> {
  const groupId = newId()
  const client = await pool.connect()
  await client.query('set session_replication_role = replica')
  const { rows } = await client.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where indexname = 'contacts_searchText_idx'`,
  )
  await client.query('drop index "contacts_searchText_idx"')
  // Fifty contacts share a moment, as after an import.
  await client.query(
    `insert into contacts (id, "workspaceId", name, phone, email, tags, "createdAt")
     select uuidv7(), $1, (array['Anna','Bruno','Иван','Müller','王小明','Zoë','Carla','Dmitri','Élodie','Fatima'])[1 + i % 10] || ' ' || md5(i::text),
       '+39' || (3000000000 + i), 'c' || i || '@example.com', array['imported'], now() - make_interval(secs => i / 50)
     from generate_series(1, $2::int) i`,
    [workspaceId, contacts],
  )
  await client.query(rows[0]?.indexdef as string)
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

/** Walks to the middle of the list page by page, as a client does. */
async function walkToTheMiddle({ gateway, account, groupId }: Scene, list: List): Promise<Middle> {
  const begun = performance.now()
  const isMembers = list === 'members'
  const connection = isMembers
    ? 'members(first: $first, after: $after)'
    : `contacts(first: $first, after: $after, sort: ${list.replace(':', '_')})`
  const ask = async (fields: string, first: number, after: string | null) => {
    const page = `page: ${connection} { ${fields} pageInfo { endCursor } }`
    const query = `query ($first: Int!, $after: String) { ${isMembers ? `group: contactGroup(id: "${groupId}") { ${page} }` : page} }`
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': account.apiKey },
      body: JSON.stringify({ query, variables: { first, after } }),
    })
    const { data, errors } = (await response.json()) as Answer
    if (errors) throw new Error(JSON.stringify(errors))
    return (data.group ?? data).page
  }
  let after: string | null = null
  for (let seen = 0; seen < contacts / 2; seen += 100) after = (await ask('', 100, after)).pageInfo.endCursor
  const { edges, pageInfo } = await ask(`edges { ${isMembers ? 'addedAt' : ''} node { id name createdAt } }`, 1, after)
  const { addedAt, node } = edges[0] as Page['edges'][number]
  console.error(`contacts-page: ${list}: ${contacts / 2} walked in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return {
    cursor: pageInfo.endCursor as string,
    value: addedAt ?? (list.startsWith('name') ? node.name : node.createdAt),
    id: node.id,
  }
}

interface Page {
  edges: { addedAt?: string; node: { id: string; name: string; createdAt: string } }[]
  pageInfo: { endCursor: string | null }
}

interface Answer {
  data: { page: Page; group?: { page: Page } }
  errors?: unknown
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
