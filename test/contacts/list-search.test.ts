// Lists of contacts filtered by tag, group or search, in every sort order.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { sql } from '../kit/database.ts'
import { newTenant, type Rig, type Tenant } from '../rest-compat/rig.ts'
import { add, ids, names, openLists, ordered, sorts, walk } from './list-rig.ts'

let rig: Rig
let tenant: Tenant

beforeAll(async () => {
  ;({ rig, tenant } = await openLists())
})

describe('filters', () => {
  it('match a tag exactly', async () => {
    expect(ids(await walk(tenant, 'limit=4&tag=even'))).toEqual(
      await ordered(rig, tenant, 'createdAt:desc', `'even' = any(tags)`),
    )
    expect(await walk(tenant, 'tag=eve')).toEqual([])
    expect(await walk(tenant, 'tag=Even')).toEqual([])
    expect((await walk(tenant, 'tag=%20even')).length).toBe(22)
  })

  it('match a group, in every order and combined with other filters', async () => {
    const { id } = (await tenant.api.post('contacts/groups', { name: 'Some' })).body.data
    const members = (await ordered(rig, tenant, 'phone:asc')).filter((_, i) => i % 4 === 1)
    await tenant.api.post(`contacts/groups/${id}/members`, { contactIds: members })
    for (const sort of sorts) {
      const all = (await ordered(rig, tenant, sort)).filter((each) => members.includes(each))
      expect(ids(await walk(tenant, `limit=3&groupId=${id}&sort=${sort}`))).toEqual(all)
    }
    const both = await walk(tenant, `limit=2&groupId=${id}&tag=even&search=SAME`)
    const meant = await ordered(rig, tenant, 'createdAt:desc', `'even' = any(tags) and name = 'Same'`)
    expect(ids(both)).toEqual(meant.filter((each) => members.includes(each)))
    expect(both.length).toBeGreaterThan(1)
  })

  it('by a missing group or one of another account find nothing', async () => {
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
    ['\n', ['two\nlines']],
    ['ë\n+39333', []],
    ["'; drop table contacts; --", []],
    ['wool ', []],
  ])('for %j finds %j', async (term, found) => {
    expect(names(await walk(people, `limit=1&search=${encodeURIComponent(term)}`)).sort()).toEqual([...found].sort())
  })

  it('reads an unescaped plus sign as a plus or a blank', async () => {
    expect(names(await walk(people, 'search=+39333000'))).toEqual(['Zoë'])
    expect(names(await walk(people, 'search=ada+love'))).toEqual(['Ada Lovelace'])
  })

  it('takes a blank for a plus only before the beginning of a phone number', async () => {
    for (const name of ['Agent 007', 'Room 39 B']) await add(people, { name })
    expect(names(await walk(people, 'search=%20007'))).toEqual(['Agent 007'])
    expect(names(await walk(people, 'search=%2039%20B'))).toEqual(['Room 39 B'])
    expect(names(await walk(people, 'search=%2039333000'))).toEqual(['Zoë'])
  })

  it('finds a changed contact by its new values and not by the old ones', async () => {
    const id = await add(people, { name: 'Before', email: 'before@example.com' })
    await people.api.put(`contacts/${id}`, { name: 'Afterwards', email: null })
    expect(await walk(people, 'search=before')).toEqual([])
    expect(ids(await walk(people, 'search=afterward'))).toEqual([id])
  })

  it.each(sorts)('by %s finds matches far down the list, and returns them in order', async (sort) => {
    const many = await newTenant(rig.gateway, rig.databaseUrl)
    // More rows than the search scans in list order: a few matches come first, most come last.
    await sql(rig.databaseUrl).query(
      `insert into contacts (id, "workspaceId", name, phone, tags, "createdAt")
       select gen_random_uuid(), $1, chr(65 + i / 100) || i || case when i in (3, 50) or i between 1200 and 1230 or i > 2480 then ' needle' else '' end,
         '+49151' || (1000000 + i), case when i % 2 = 0 then array['even'] else '{}' end, now() - make_interval(secs => i)
       from generate_series(1, 2500) i`,
      [many.account.workspaceId],
    )
    expect(ids(await walk(many, `limit=7&search=NEEDLE&sort=${sort}`))).toEqual(
      await ordered(rig, many, sort, `name like '%needle'`),
    )
    expect(ids(await walk(many, `limit=100&tag=even&sort=${sort}`))).toEqual(await ordered(rig, many, sort, `'even' = any(tags)`))
  })

  it('finds exactly the names that contain the term, for arbitrary terms', async () => {
    const letters = fc.constantFrom('a', 'A', 'é', 'É', 'ß', 'я', 'Я', '%', '_', '\\', ' ', "'", '👍', '王')
    const word = fc.string({ unit: letters, minLength: 1, maxLength: 4 })
    const many = await newTenant(rig.gateway, rig.databaseUrl)
    const all = fc.sample(word, { numRuns: 60, seed: 7 }).filter((name) => name.trim() !== '')
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
