// Members of a group: pages while members are added and removed, search, and counts that equal a recount.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { expectRefusal, newNumber, newTenant, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'

let rig: Rig
let tenant: Tenant
let names = 0

beforeAll(async () => {
  rig = await openRig()
  tenant = await newTenant(rig.gateway, rig.databaseUrl)
})

async function addContact(name: string, fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await tenant.api.post('contacts', { name, phone: newNumber(), ...fields })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.data.id
}

async function addGroup(members: readonly string[] = []): Promise<string> {
  const { id } = (await tenant.api.post('contacts/groups', { name: `Group ${++names}` })).body.data
  if (members.length > 0) await join(id, members)
  return id
}

/** All contacts of one call get the same addedAt. */
async function join(groupId: string, contactIds: readonly string[]): Promise<void> {
  expect((await tenant.api.post(`contacts/groups/${groupId}/members`, { contactIds })).status).toBe(200)
}

interface Page {
  contacts: { id: string; name: string; addedAt: string }[]
  limit: number
  total: number
  nextCursor: string | null
  hasMore: boolean
}

async function walk(groupId: string, query: string, after: (page: Page) => Promise<unknown> = async () => {}) {
  const pages: Page[] = []
  let cursor: string | null = null
  do {
    const address: string = `contacts/groups/${groupId}/members?${query}${cursor ? `&cursor=${cursor}` : ''}`
    const { status, body } = await tenant.api.get(address)
    expect(status, JSON.stringify(body)).toBe(200)
    const page: Page = body.data
    expect(page.hasMore).toBe(page.nextCursor !== null)
    pages.push(page)
    cursor = page.nextCursor
    await after(page)
  } while (cursor)
  return { pages, members: pages.flatMap((page) => page.contacts) }
}

const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

describe('pages of members', () => {
  it.each([1, 7, 24, 25, 100])('of %i return every member once, latest join first', async (limit) => {
    const contacts: string[] = []
    for (let i = 0; i < 25; i++) contacts.push(await addContact(`Member ${i}`))
    const groupId = await addGroup(contacts.slice(0, 10))
    await join(groupId, contacts.slice(10, 13))
    await join(groupId, contacts.slice(13))
    const { members, pages } = await walk(groupId, `limit=${limit}`)
    const { rows } = await sql(rig.databaseUrl).query(
      'select "contactId" as id from contact_group_members where "groupId" = $1 order by "addedAt" desc, "contactId" desc',
      [groupId],
    )
    expect(ids(members)).toEqual(ids(rows))
    expect(pages.map((page) => [page.total, page.limit])).toEqual(pages.map(() => [25, limit]))
  })

  it('neither skip nor repeat while members are added and removed', async () => {
    const contacts: string[] = []
    for (let i = 0; i < 20; i++) contacts.push(await addContact(`Member ${i}`))
    const groupId = await addGroup(contacts.slice(0, 10))
    await join(groupId, contacts.slice(10))
    const before = ids((await walk(groupId, 'limit=100')).members)
    const { members } = await walk(groupId, 'limit=3', async ({ contacts: page }) => {
      await join(groupId, [await addContact('Late')])
      // Deletes the row that the cursor refers to.
      await tenant.api.delete(`contacts/${page.at(-1)?.id}`)
    })
    expect(ids(members)).toEqual(before)
    const { pages } = await walk(groupId, 'limit=100')
    expect(pages[0]?.total).toBe(pages[0]?.contacts.length)
  })

  it('have cursors that belong to one group, one search and one account', async () => {
    const contacts: string[] = []
    for (let i = 0; i < 3; i++) contacts.push(await addContact(`Member ${i}`))
    const [one, other] = [await addGroup(contacts), await addGroup(contacts)]
    const { nextCursor } = (await tenant.api.get(`contacts/groups/${one}/members?limit=1`)).body.data
    for (const path of [`groups/${other}/members?`, `groups/${one}/members?search=member&`, '?', 'groups?']) {
      const answer = await tenant.api.get(`contacts/${path}cursor=${nextCursor}`.replace('contacts/?', 'contacts?'))
      expectRefusal(answer, 400, 'VALIDATION_ERROR', /^cursor: is not a cursor/)
    }
    expectRefusal(await rig.stranger.api.get(`contacts/groups/${one}/members?cursor=${nextCursor}`), 404, 'NOT_FOUND')
  })
})

describe('a search among members', () => {
  let groupId: string

  beforeAll(async () => {
    const people = [
      await addContact('Zoë Ada', { email: 'secret@hidden.example', phone: '+393330001111' }),
      await addContact('MÜLLER', { phone: '+393330001112' }),
      await addContact('100% wool', { email: 'percent@hidden.example' }),
      await addContact('under_score'),
      await addContact('back\\slash'),
      await addContact('hidden\nin a line', { email: 'other@example.com' }),
    ]
    groupId = await addGroup(people)
    await addContact('Zoë elsewhere')
  })

  it.each<[string, string[]]>([
    ['zoë', ['Zoë Ada']],
    ['ZOË A', ['Zoë Ada']],
    ['müll', ['MÜLLER']],
    ['+3933300011', ['MÜLLER', 'Zoë Ada']],
    ['0001112', ['MÜLLER']],
    ['%', ['100% wool']],
    ['_', ['under_score']],
    ['\\', ['back\\slash']],
    ['%_', []],
    ['hidden', ['hidden\nin a line']],
    ['secret', []],
    ['@', []],
    ['example', []],
    ['elsewhere', []],
  ])('for %j finds %j by name or number, and counts them', async (term, found) => {
    const { members, pages } = await walk(groupId, `limit=1&search=${encodeURIComponent(term)}`)
    expect(members.map(({ name }) => name).sort()).toEqual([...found].sort())
    for (const page of pages) expect(page.total).toBe(found.length)
  })
})

it('counts all matching members, wherever a GraphQL page ends', async () => {
  const contacts: string[] = []
  for (let i = 0; i < 4; i++) contacts.push(await addContact(`Counted ${i}`))
  const id = await addGroup(contacts)
  const document = `query ($id: ID!, $before: String) { contactGroup(id: $id) {
    members(first: 9, before: $before, search: "counted") { totalCount edges { cursor } } } }`
  const all = (await tenant.api.graphql(document, { id })).body.data.contactGroup.members
  expect([all.edges.length, all.totalCount]).toEqual([4, 4])
  const some = (await tenant.api.graphql(document, { id, before: all.edges[2].cursor })).body.data.contactGroup.members
  expect([some.edges.length, some.totalCount]).toEqual([2, 4])
})

it('finds members far down the list, page by page, and counts them', async () => {
  const groupId = await addGroup()
  const pool = sql(rig.databaseUrl)
  await pool.query(
    `with made as (
       insert into contacts (id, "workspaceId", name, phone) select gen_random_uuid(), $1, i || case when i % 50 = 0 or i < 20 then ' needle' else '' end,
         '+49151' || (2000000 + i) from generate_series(1, 2500) i returning id, phone
     ) insert into contact_group_members ("groupId", "contactId", "addedAt") select $2, id, now() - make_interval(secs => 2002500 - right(phone, 7)::int) from made`,
    [tenant.account.workspaceId, groupId],
  )
  await pool.query('update contact_groups set "membersCount" = 2500 where id = $1', [groupId])
  const { members, pages } = await walk(groupId, 'limit=8&search=needle')
  const { rows } = await pool.query(
    `select c.id from contact_group_members m join contacts c on c.id = m."contactId" where m."groupId" = $1 and c.name like '%needle'
     order by m."addedAt" desc, c.id desc`,
    [groupId],
  )
  expect(rows.length).toBe(69)
  expect(ids(members)).toEqual(ids(rows))
  expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([69]))
})

it('keeps member counts equal to a recount under concurrent changes', async () => {
  const contacts: string[] = []
  for (let i = 0; i < 30; i++) contacts.push(await addContact(`Member ${i}`))
  const groups = [await addGroup(), await addGroup(), await addGroup()]
  const { api } = tenant
  await Promise.all(
    [
      ...groups.map((id) => join(id, contacts)),
      ...contacts.slice(0, 10).map((id) => api.delete(`contacts/${id}`)),
      ...groups.map((id) => api.delete(`contacts/groups/${id}/members`, { contactIds: contacts.slice(5, 15) })),
      ...groups.map((id) => join(id, contacts.slice(12))),
      api.delete(`contacts/groups/${groups[2]}`),
    ].map((each) => each.catch(() => {})),
  )
  const { rows } = await sql(rig.databaseUrl).query(
    `select g.id, "membersCount", count(m.*)::int as recount from contact_groups g left join contact_group_members m on m."groupId" = g.id
     where g."workspaceId" = $1 group by g.id having "membersCount" <> count(m.*)`,
    [tenant.account.workspaceId],
  )
  expect(rows).toEqual([])
})
