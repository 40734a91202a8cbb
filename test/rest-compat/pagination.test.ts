// Pagination: a cursor belongs to one list, and rows that arrive during paging are neither skipped nor repeated.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { expectRefusal, openRig, type Rig, type Tenant, text } from './rig.ts'

let rig: Rig
/** Its instance is not connected, so its messages keep their status. */
let asleep: Tenant
let sent: string[]

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = rig.tenant
  asleep = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
  // Messages of one transaction share their createdAt, so the ids decide the order.
  const messages = Array.from({ length: 45 }, () => text(asleep))
  const answer = await api.post('messages/bulk', { messages })
  sent = answer.body.data.accepted.map((item: { id: string }) => item.id)
})

interface Page {
  messages: { id: string; createdAt: string }[]
  nextCursor: string | null
  hasMore: boolean
}

async function page(query: string, cursor?: string | null): Promise<Page> {
  const answer = await asleep.api.get(`messages?${query}${cursor ? `&cursor=${cursor}` : ''}`)
  expect(answer.status).toBe(200)
  return answer.body.data
}

/** Reads all pages; `after` runs after each one. */
async function walk(query: string, after: (page: Page) => Promise<unknown> = async () => {}): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const next: Page = await page(query, cursor)
    expect(next.hasMore).toBe(next.nextCursor !== null)
    ids.push(...next.messages.map((message) => message.id))
    cursor = next.nextCursor
    await after(next)
  } while (cursor)
  return ids
}

describe('paging', () => {
  it.each([1, 7, 44, 45, 46, 100])('by %s returns every message once', async (limit) => {
    const ids = await walk(`limit=${limit}&sort=createdAt:asc`)
    expect(ids).toEqual([...new Set(ids)])
    expect(new Set(ids)).toEqual(new Set(sent))
  })

  it('returns 20 messages a page by default', async () => {
    expect((await page('')).messages).toHaveLength(20)
  })

  it('in descending order is the reverse of ascending order', async () => {
    expect((await walk('limit=7&sort=createdAt:desc')).reverse()).toEqual(await walk('limit=7&sort=createdAt:asc'))
  })

  it('from the newest does not include later messages', async () => {
    const before = await walk('limit=100')
    const during = await walk('limit=10', () => asleep.api.post('messages/send', text(asleep)))
    expect(during).toEqual(before)
  })

  it('from the oldest includes later messages at the end', async () => {
    const before = await walk('limit=100&sort=createdAt:asc')
    const added: string[] = []
    const during = await walk('limit=10&sort=createdAt:asc', async ({ hasMore }) => {
      if (hasMore) added.push((await asleep.api.post('messages/send', text(asleep))).body.data.id)
    })
    expect(during).toEqual([...before, ...added])
  })

  it('continues when the last row of a page was cancelled and no longer matches the filter', async () => {
    const first = await page('limit=3&status=queued')
    const last = first.messages.at(-1)
    await asleep.api.post(`messages/${last?.id}/cancel`)
    const next = await page('limit=3&status=queued', first.nextCursor)
    const all = await walk('limit=100&status=queued')
    expect([...first.messages.slice(0, 2), ...next.messages].map(({ id }) => id)).toEqual(all.slice(0, 5))
  })
})

describe('a cursor', () => {
  const wrong = /^cursor: is not a cursor/

  it.each([
    ['another sort', 'sort=createdAt:asc'],
    ['another filter', 'status=queued'],
    ['no filter', ''],
    ['another value of its filter', 'type=image'],
  ])('is refused with %s', async (_, query) => {
    const made = query === 'status=queued' || query.startsWith('sort') ? 'limit=5' : 'limit=5&type=text'
    const { nextCursor } = await page(made)
    expectRefusal(await asleep.api.get(`messages?${query}&cursor=${nextCursor}`), 400, 'VALIDATION_ERROR', wrong)
  })

  it('is accepted with another page size', async () => {
    const { nextCursor, messages } = await page('limit=5')
    const next = await page('limit=1', nextCursor)
    expect(messages.map(({ id }) => id)).not.toContain(next.messages[0]?.id)
  })

  it('is refused for another account and on another list', async () => {
    const { nextCursor } = await page('limit=5')
    expectRefusal(await rig.stranger.api.get(`messages?cursor=${nextCursor}`), 400, 'VALIDATION_ERROR', wrong)
    const history = `messages/history?phone=%2B393331234567&cursor=${nextCursor}`
    expectRefusal(await asleep.api.get(history), 400, 'VALIDATION_ERROR', wrong)
  })

  it('is refused when a character was changed, removed or added', async () => {
    const { nextCursor } = (await page('limit=5')) as { nextCursor: string }
    for (let at = 0; at < nextCursor.length; at += 3) {
      const other = nextCursor[at] === 'A' ? 'B' : 'A'
      const altered = nextCursor.slice(0, at) + other + nextCursor.slice(at + 1)
      expectRefusal(await asleep.api.get(`messages?cursor=${altered}`), 400, 'VALIDATION_ERROR', wrong)
    }
    for (const altered of [
      nextCursor.slice(1),
      nextCursor.slice(0, -1),
      `${nextCursor}A`,
      `${nextCursor}=`,
      `${nextCursor}%00`,
    ]) {
      expectRefusal(await asleep.api.get(`messages?cursor=${altered}`), 400, 'VALIDATION_ERROR', wrong)
    }
  })
})
