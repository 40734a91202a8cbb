// Lists of contacts: every order, page by page, while contacts are added and deleted, and the cursors between pages.
import { beforeAll, describe, expect, it } from 'vitest'
import { encodeCursor } from '../../src/core/graph/page-cursor.ts'
import { newId } from '../../src/core/id.ts'
import { expectRefusal, newTenant, type Rig, type Tenant } from '../rest-compat/rig.ts'
import { add, ids, names, openLists, ordered, page, sorts, walk } from './list-rig.ts'

let rig: Rig
let tenant: Tenant

beforeAll(async () => {
  ;({ rig, tenant } = await openLists())
})

describe.each(sorts)('a list by %s', (sort) => {
  it.each([1, 7, 44, 45, 46, 100])('returns every contact once, in order, by pages of %i', async (limit) => {
    expect(ids(await walk(tenant, `limit=${limit}&sort=${sort}`))).toEqual(await ordered(rig, tenant, sort))
  })

  it('fits 45 contacts on one page by default, which is 50', async () => {
    const { contacts, hasMore } = await page(tenant, `sort=${sort}`)
    expect([contacts.length, hasMore]).toEqual([45, false])
  })

  it('neither skips nor repeats while contacts are added and deleted', async () => {
    const busy = await newTenant(rig.gateway, rig.databaseUrl)
    for (let i = 0; i < 30; i++) await add(busy, { name: `${String.fromCharCode(97 + ((i * 7) % 26))} ${i}` })
    const before = await walk(busy, `limit=100&sort=${sort}`)
    const gone = new Set<string>()
    let turn = 0
    const seen = await walk(busy, `limit=4&sort=${sort}`, async ({ contacts }) => {
      // Adds one contact at either end of every order, and deletes the last row of the page, which the cursor refers to.
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

  it('is paged backward over GraphQL, each page in list order', async () => {
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
    expect(seen).toEqual(await ordered(rig, tenant, sort))
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
  ])('is refused with %s', async (_, made, query) => {
    const { nextCursor } = await page(tenant, made)
    expect(nextCursor).not.toBeNull()
    expectRefusal(await tenant.api.get(`contacts?${query}&cursor=${nextCursor}`), 400, 'VALIDATION_ERROR', wrong)
  })

  it('is refused for another account and on another list', async () => {
    const { nextCursor } = await page(tenant, 'limit=5')
    for (const [of, path] of [
      [rig.stranger, 'contacts?'],
      [tenant, 'contacts/groups?'],
      [tenant, 'messages?'],
    ] as const) {
      expectRefusal(await of.api.get(`${path}cursor=${nextCursor}`), 400, 'VALIDATION_ERROR', wrong)
    }
  })

  it('is refused when one of its characters was changed', async () => {
    const { nextCursor } = (await page(tenant, 'limit=5&sort=name:asc')) as { nextCursor: string }
    for (let at = 0; at < nextCursor.length; at += 5) {
      const other = nextCursor[at] === 'A' ? 'B' : 'A'
      const altered = nextCursor.slice(0, at) + other + nextCursor.slice(at + 1)
      expectRefusal(await tenant.api.get(`contacts?sort=name:asc&cursor=${altered}`), 400, 'VALIDATION_ERROR', wrong)
    }
  })

  it('is refused as a validation error when its value was forged', async () => {
    const { account, api } = tenant
    const { id } = (await api.post('webhooks', { url: 'https://example.com/hook', events: ['message.sent'] })).body.data
    const list = (sort: string) => JSON.stringify(['contacts', account.workspaceId, null, null, null, sort])
    for (const [path, binding, values] of [
      [`webhooks/${id}/deliveries?`, JSON.stringify(['deliveries', id, null]), [1e300, -1, 1.5, 'now']],
      ['contacts?sort=createdAt:asc&', list('createdAt_asc'), [8.64e15 + 1, '2026-01-01', '\0']],
      ['contacts?sort=name:asc&', list('name_asc'), [5, 'Ada\0']],
    ] as const) {
      for (const value of values) {
        const answer = await api.get(`${path}cursor=${encodeCursor(binding, value, newId())}`)
        expectRefusal(answer, 400, 'VALIDATION_ERROR', 'cursor: is not a cursor')
      }
    }
  })

  it('holds the longest possible name', async () => {
    const odd = await newTenant(rig.gateway, rig.databaseUrl)
    const long = ['\u0001', '👍', '"', 'é'].map((letter) => letter.repeat(200))
    for (const name of long) await add(odd, { name })
    expect(names(await walk(odd, 'limit=1&sort=name:desc')).sort()).toEqual([...long].sort())
  })
})
