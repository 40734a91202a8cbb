// Lists of contacts: every order and filter, page by page, while contacts come and go.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { sql } from '../kit/kit.ts'
import { expectRefusal, newNumber, newTenant, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'

let rig: Rig
/** Has 45 contacts: every third one shares its name, every fifth its time, with others. */
let tenant: Tenant

const sorts = ['createdAt:desc', 'createdAt:asc', 'name:asc', 'name:desc'] as const

beforeAll(async () => {
  rig = await openRig()
  tenant = await newTenant(rig.gateway, rig.databaseUrl)
  await sql(rig.databaseUrl).query(
    `insert into contacts (id, "workspaceId", name, phone, tags, "createdAt")
     select gen_random_uuid(), $1, case when i % 3 = 0 then 'Same' else chr(64 + i % 26) || i end, '+4915112340' || (100 + i),
       case when i % 2 = 0 then array['even'] else '{}' end, now() - make_interval(secs => i / 5) from generate_series(1, 45) i`,
    [tenant.account.workspaceId],
  )
})

interface Row {
  id: string
  name: string
  phone: string
  createdAt: string
}

interface Page {
  contacts: Row[]
  nextCursor: string | null
  hasMore: boolean
}

async function page({ api }: Tenant, query: string, cursor?: string | null): Promise<Page> {
  const { status, body } = await api.get(`contacts?${query}${cursor ? `&cursor=${cursor}` : ''}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data
}

/** All pages, with something done after each. */
async function walk(of: Tenant, query: string, after: (page: Page) => Promise<unknown> = async () => {}): Promise<Row[]> {
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

const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name)

async function add({ api }: Tenant, fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await api.post('contacts', { name: 'Ada', phone: newNumber(), ...fields })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.data.id
}

/** The ids as Postgres itself orders them. */
async function ordered({ account }: Tenant, sort: string, where = 'true'): Promise<string[]> {
  const [field, direction] = sort.split(':')
  const { rows } = await sql(rig.databaseUrl).query(
    `select id from contacts where "workspaceId" = $1 and ${where} order by "${field}" ${direction}, id ${direction}`,
    [account.workspaceId],
  )
  return ids(rows)
}

describe.each(sorts)('by %s', (sort) => {
  it.each([1, 7, 44, 45, 46, 100])('pages of %i have all of it once, in order', async (limit) => {
    expect(ids(await walk(tenant, `limit=${limit}&sort=${sort}`))).toEqual(await ordered(tenant, sort))
  })

  it('has 50 a page unless told otherwise', async () => {
    const { contacts, hasMore } = await page(tenant, `sort=${sort}`)
    expect([contacts.length, hasMore]).toEqual([45, false])
  })

  it('neither skips nor repeats while contacts come and go', async () => {
    const busy = await newTenant(rig.gateway, rig.databaseUrl)
    for (let i = 0; i < 30; i++) await add(busy, { name: `${String.fromCharCode(97 + ((i * 7) % 26))} ${i}` })
    const before = await walk(busy, `limit=100&sort=${sort}`)
    const gone = new Set<string>()
    let turn = 0
    const seen = await walk(busy, `limit=4&sort=${sort}`, async ({ contacts }) => {
      // One at either end of every order, and the last row of the page away, which its cursor speaks of.
      await add(busy, { name: turn++ % 2 ? 'zz' : 'AA' })
      const last = contacts.at(-1)?.id as string
      gone.add(last)
      await busy.api.delete(`contacts/${last}`)
    })
    expect(new Set(ids(seen)).size).toBe(seen.length)
    const kept = ids(before).filter((id) => ids(seen).includes(id))
    expect(kept).toEqual(ids(before))
    expect(gone.size).toBeGreaterThan(5)
  })

  it('comes backward in the graph, each page in the order of the list', async () => {
    const document = `query ($last: Int, $before: String) { contacts(last: $last, before: $before, sort: ${sort.replace(':', '_')}) {
      nodes { id } totalCount pageInfo { hasPreviousPage startCursor } } }`
    let seen: string[] = []
    let before: string | null = null
    do {
      const { body } = await tenant.api.graphql(document, { last: 10, before })
      const { nodes, pageInfo, totalCount } = body.data.contacts
      expect(totalCount).toBeNull()
      seen = [...ids(nodes), ...seen]
      before = pageInfo.hasPreviousPage ? pageInfo.startCursor : null
    } while (before)
    expect(seen).toEqual(await ordered(tenant, sort))
  })
})

describe('a cursor', () => {
  const wrong = /^cursor: is not a cursor/

  it.each([
    ['another sort', 'limit=5', 'sort=createdAt:asc'],
    ['the other sort by name', 'limit=5&sort=name:asc', 'sort=name:desc'],
    ['a filter', 'limit=5', 'tag=even'],
    ['no filter', 'limit=5&tag=even', ''],
    ['another search', 'limit=5&search=same', 'search=sam'],
    ['a search in place of a label', 'limit=5&tag=even', 'search=even'],
    ['another group', 'limit=5', `groupId=${newId()}`],
  ])('does not fit %s', async (_, made, query) => {
    const { nextCursor } = await page(tenant, made)
    expect(nextCursor).not.toBeNull()
    expectRefusal(await tenant.api.get(`contacts?${query}&cursor=${nextCursor}`), 400, 'VALIDATION_ERROR', wrong)
  })

  it('is of no use to anybody else, nor on another list', async () => {
    const { nextCursor } = await page(tenant, 'limit=5')
    for (const [of, path] of [
      [rig.stranger, 'contacts?'],
      [tenant, 'contacts/groups?'],
      [tenant, 'messages?'],
    ] as const) {
      expectRefusal(await of.api.get(`${path}cursor=${nextCursor}`), 400, 'VALIDATION_ERROR', wrong)
    }
  })

  it('is refused whichever of its characters was changed', async () => {
    const { nextCursor } = (await page(tenant, 'limit=5&sort=name:asc')) as { nextCursor: string }
    for (let at = 0; at < nextCursor.length; at += 5) {
      const other = nextCursor[at] === 'A' ? 'B' : 'A'
      const altered = nextCursor.slice(0, at) + other + nextCursor.slice(at + 1)
      expectRefusal(await tenant.api.get(`contacts?sort=name:asc&cursor=${altered}`), 400, 'VALIDATION_ERROR', wrong)
    }
  })

  it('holds the longest of names', async () => {
    const odd = await newTenant(rig.gateway, rig.databaseUrl)
    const long = ['\u0001', '👍', '"', 'é'].map((letter) => letter.repeat(200))
    for (const name of long) await add(odd, { name })
    expect(names(await walk(odd, 'limit=1&sort=name:desc')).sort()).toEqual([...long].sort())
  })
})

describe('filters', () => {
  it('keep to a label', async () => {
    expect(ids(await walk(tenant, 'limit=4&tag=even'))).toEqual(await ordered(tenant, 'createdAt:desc', `'even' = any(tags)`))
    expect(await walk(tenant, 'tag=eve')).toEqual([])
    expect(await walk(tenant, 'tag=Even')).toEqual([])
    expect((await walk(tenant, 'tag=%20even')).length).toBe(22)
  })

  it('keep to a group, in any order and together with others', async () => {
    const { id } = (await tenant.api.post('contacts/groups', { name: 'Some' })).body.data
    const members = (await ordered(tenant, 'phone:asc')).filter((_, i) => i % 4 === 1)
    await tenant.api.post(`contacts/groups/${id}/members`, { contactIds: members })
    for (const sort of sorts) {
      const all = (await ordered(tenant, sort)).filter((each) => members.includes(each))
      expect(ids(await walk(tenant, `limit=3&groupId=${id}&sort=${sort}`))).toEqual(all)
    }
    const both = await walk(tenant, `limit=2&groupId=${id}&tag=even&search=SAME`)
    const meant = await ordered(tenant, 'createdAt:desc', `'even' = any(tags) and name = 'Same'`)
    expect(ids(both)).toEqual(meant.filter((each) => members.includes(each)))
    expect(both.length).toBeGreaterThan(1)
  })

  it('of nobody, and of somebody else, find nothing', async () => {
    const foreign = (await rig.stranger.api.post('contacts/groups', { name: 'Theirs' })).body.data.id
    const contactId = await add(rig.stranger)
    await rig.stranger.api.post(`contacts/groups/${foreign}/members`, { contactIds: [contactId] })
    expect(await walk(tenant, `groupId=${foreign}`)).toEqual([])
    expect(await walk(tenant, `groupId=${newId()}`)).toEqual([])
  })
})

describe('a search', () => {
  let people: Tenant

  beforeAll(async () => {
    people = await newTenant(rig.gateway, rig.databaseUrl)
    const contacts = [
      ['Ada Lovelace', { email: 'ada@analytical.example' }],
      ['MÜLLER, Élodie', {}],
      ['Ярослав Мудрый', {}],
      ['ΝΙΚΟΣ', {}],
      ['王小明', {}],
      ['100% wool', {}],
      ['1000 wool', {}],
      ['under_score', {}],
      ['underXscore', {}],
      ['back\\slash', {}],
      ['Zoë', { phone: '+393330009991', email: 'ZOE@Example.COM' }],
      ['two\nlines', {}],
    ] as const
    for (const [name, fields] of contacts) await add(people, { name, ...fields })
  })

  it.each<[string, string[]]>([
    ['lovelace', ['Ada Lovelace']],
    ['LOVE', ['Ada Lovelace']],
    ['ada@ANALYTICAL', ['Ada Lovelace']],
    ['müller', ['MÜLLER, Élodie']],
    ['ÉLODIE', ['MÜLLER, Élodie']],
    ['é', ['MÜLLER, Élodie']],
    ['мудр', ['Ярослав Мудрый']],
    ['ЯРОСЛАВ', ['Ярослав Мудрый']],
    ['νικος', ['ΝΙΚΟΣ']],
    ['νικοσ', ['ΝΙΚΟΣ']],
    ['小', ['王小明']],
    ['王小明', ['王小明']],
    ['%', ['100% wool']],
    ['0%', ['100% wool']],
    ['_', ['under_score']],
    ['R_S', ['under_score']],
    ['\\', ['back\\slash']],
    ['k\\s', ['back\\slash']],
    ['\\%', []],
    ['%%', []],
    ['+39333000999', ['Zoë']],
    ['3330009991', ['Zoë']],
    ['zoe@example.com', ['Zoë']],
    ['zoe', ['Zoë']],
    ['wool', ['100% wool', '1000 wool']],
    ['two\nlines', ['two\nlines']],
    ["'; drop table contacts; --", []],
    ['wool ', []],
  ])('for %j finds %j', async (term, found) => {
    expect(names(await walk(people, `limit=1&search=${encodeURIComponent(term)}`)).sort()).toEqual([...found].sort())
  })

  it('takes a plus sign that nobody escaped', async () => {
    expect(names(await walk(people, 'search=+39333000'))).toEqual(['Zoë'])
    expect(names(await walk(people, 'search=ada+love'))).toEqual(['Ada Lovelace'])
  })

  it('finds what a change made of a contact, and no more what it was', async () => {
    const id = await add(people, { name: 'Before', email: 'before@example.com' })
    await people.api.put(`contacts/${id}`, { name: 'Afterwards', email: null })
    expect(await walk(people, 'search=before')).toEqual([])
    expect(ids(await walk(people, 'search=afterward'))).toEqual([id])
  })

  it.each(sorts)('by %s finds what stands far behind, and goes on from near to far', async (sort) => {
    const many = await newTenant(rig.gateway, rig.databaseUrl)
    // More than are looked at in their order: a few that match among the first, most among the last.
    await sql(rig.databaseUrl).query(
      `insert into contacts (id, "workspaceId", name, phone, tags, "createdAt")
       select gen_random_uuid(), $1, chr(65 + i / 100) || i || case when i in (3, 50) or i between 1200 and 1230 or i > 2480 then ' needle' else '' end,
         '+49151' || (1000000 + i), case when i % 2 = 0 then array['even'] else '{}' end, now() - make_interval(secs => i)
       from generate_series(1, 2500) i`,
      [many.account.workspaceId],
    )
    expect(ids(await walk(many, `limit=7&search=NEEDLE&sort=${sort}`))).toEqual(await ordered(many, sort, `name like '%needle'`))
    expect(ids(await walk(many, `limit=100&tag=even&sort=${sort}`))).toEqual(await ordered(many, sort, `'even' = any(tags)`))
  })

  it('finds exactly what has the term in it, whatever they are', async () => {
    const letters = fc.constantFrom('a', 'A', 'é', 'É', 'ß', 'я', 'Я', '%', '_', '\\', ' ', "'", '👍', '王')
    const word = fc.string({ unit: letters, minLength: 1, maxLength: 4 })
    const many = await newTenant(rig.gateway, rig.databaseUrl)
    const all = fc.sample(word, { numRuns: 60, seed: 7 })
    for (const name of all) await add(many, { name })
    await fc.assert(
      fc.asyncProperty(word, async (term) => {
        const found = await walk(many, `limit=100&search=${encodeURIComponent(term)}`)
        expect(names(found).sort()).toEqual(all.filter((name) => name.toLowerCase().includes(term.toLowerCase())).sort())
      }),
      { numRuns: 60, seed: 7 },
    )
  })
})
