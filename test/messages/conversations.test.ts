// Proves the list of conversations: the latest message of each number, what is unread, its pages, and that it stays fast.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { readAmongNumbers } from '../../src/messages/conversations.sql.ts'
import { pageOfConversations, withMessages } from '../../src/messages/conversations.ts'
import { sql } from '../kit/database.ts'
import { newTenant, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'
import { contextFor, openApp } from './rig.ts'

let rig: Rig
let tenant: Tenant
let clock = Date.parse('2026-01-01T00:00:00Z')

beforeAll(async () => {
  rig = await openRig()
})

interface Given {
  direction?: 'inbound' | 'outbound'
  status?: string
  campaignId?: string
  n?: number
}

/** Inserts messages of a number, each a second later than the one before. Returns the id of the last. */
async function exchange(of: Tenant, peer: string, { direction = 'outbound', status = 'sent', campaignId, n = 1 }: Given = {}) {
  const { account, instance } = of
  const { rows } = await sql(rig.databaseUrl).query<{ id: string }>(
    `insert into messages (id, "workspaceId", "userId", "instanceId", "campaignId", direction, type, "to", peer, body, status, safety, "createdAt")
     select gen_random_uuid(), $1, $2, $3, $4, $5::direction, 'text', $6, $6, 'Hi', $7::message_status, '{}', $8::timestamptz + g * interval '1 second'
     from generate_series(1, $9::int) g returning id`,
    [
      account.workspaceId,
      account.userId,
      instance.id,
      campaignId ?? null,
      direction,
      peer,
      direction === 'inbound' ? 'received' : status,
      new Date(clock),
      n,
    ],
  )
  clock += n * 1_000
  return rows.at(-1)?.id as string
}

const inbound = { direction: 'inbound' } as const
const page = `query ($first: Int, $after: String, $last: Int, $before: String) {
  conversations(first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { id phone unreadCount lastMessageAt lastMessage { id createdAt } contact { name } } }
    nodes { phone } totalCount pageInfo { hasNextPage hasPreviousPage endCursor startCursor } } }`

async function read(of: Tenant, variables: Record<string, unknown> = {}) {
  const { body } = await of.api.graphql(page, variables)
  expect(body.errors).toBeUndefined()
  return body.data.conversations
}

const phonesOf = ({ nodes }: { nodes: { phone: string }[] }) => nodes.map(({ phone }) => phone)

describe('conversations', () => {
  it('have the latest message of each number in either direction, its contact, and the latest conversation first', async () => {
    tenant = await newTenant(rig.gateway, rig.databaseUrl)
    await tenant.api.post('contacts', { name: 'Ada', phone: '+393331110001' })
    await exchange(tenant, '+393331110001')
    const second = await exchange(tenant, '+393331110002', inbound)
    const first = await exchange(tenant, '+393331110001', inbound)
    await exchange(rig.stranger, '+393331110003')
    const { edges, totalCount } = await read(tenant)
    expect(edges.map(({ node }: { node: unknown }) => node)).toMatchObject([
      { id: '+393331110001', phone: '+393331110001', lastMessage: { id: first }, contact: { name: 'Ada' }, unreadCount: 1 },
      { id: '+393331110002', phone: '+393331110002', lastMessage: { id: second }, contact: null, unreadCount: 1 },
    ])
    for (const { node } of edges) expect(node.lastMessageAt).toBe(node.lastMessage.createdAt)
    expect(totalCount).toBeNull()
  })

  it('are unread from the last answer on: not by campaigns, nor by what failed or was cancelled', async () => {
    const of = await newTenant(rig.gateway, rig.databaseUrl)
    const campaign = { instanceId: of.instance.id, name: 'Spring', type: 'text', text: 'Hi' }
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const made = await of.api.post('campaigns', { ...campaign, scheduledAt, recipients: [{ to: '+4915112345005' }] })
    const phone = '+393332220001'
    const unread = async () => (await read(of)).edges[0].node.unreadCount
    await exchange(of, phone, { ...inbound, n: 2 })
    await exchange(of, phone)
    expect(await unread()).toBe(0)
    await exchange(of, phone, { ...inbound, n: 3 })
    await exchange(of, phone, { campaignId: made.body.data.id })
    await exchange(of, phone, { status: 'failed' })
    await exchange(of, phone, { status: 'cancelled' })
    await exchange(of, phone, inbound)
    expect(await unread()).toBe(4)
    await exchange(of, phone, { ...inbound, n: 150 })
    expect(await unread()).toBe(100)
    await exchange(of, phone, { status: 'queued' })
    expect(await unread()).toBe(0)
  })

  it('are paged forward and backward without loss or repetition, also where few numbers have nearly all messages', async () => {
    const of = await newTenant(rig.gateway, rig.databaseUrl)
    const phones = Array.from({ length: 12 }, (_, i) => `+3933344400${10 + i}`)
    for (const phone of phones) await exchange(of, phone)
    // More messages than a page is looked for in.
    await exchange(of, '+393334440099', { n: 2_500 })
    for (const phone of phones.slice(0, 3)) await exchange(of, phone)
    const expected = [...phones.slice(0, 3).reverse(), '+393334440099', ...phones.slice(3).reverse()]
    expect(phonesOf(await read(of, { first: 100 }))).toEqual(expected)
    const forward: string[] = []
    let after: string | null = null
    do {
      const found: Awaited<ReturnType<typeof read>> = await read(of, { first: 5, after })
      forward.push(...phonesOf(found))
      after = found.pageInfo.hasNextPage ? found.pageInfo.endCursor : null
    } while (after)
    expect(forward).toEqual(expected)
    const { edges } = await read(of, { last: 4 })
    expect(edges.map(({ node }: { node: { phone: string } }) => node.phone)).toEqual(expected.slice(-4))
    expect(phonesOf(await read(of, { last: 3, before: edges[0].cursor }))).toEqual(expected.slice(-7, -4))
  })

  it('refuse a page that is too large, and cursors of other workspaces, and say so by name', async () => {
    const tooMany = await tenant.api.graphql(page, { first: 101 })
    expect(tooMany.body.errors[0]).toMatchObject({
      message: 'first: must be between 1 and 100',
      extensions: { code: 'VALIDATION_ERROR' },
    })
    const { pageInfo } = await read(tenant, { first: 1 })
    const foreign = await rig.stranger.api.graphql(page, { after: pageInfo.endCursor })
    expect(foreign.body.errors[0]).toMatchObject({
      message: expect.stringMatching(/^after: /),
      extensions: { code: 'VALIDATION_ERROR' },
    })
    expect((await rig.tenant.api.graphql(page, { after: newId() })).body.errors).toHaveLength(1)
  })
})

it('says that a workspace has too many numbers for the look by number, also behind the last of the first ones', async () => {
  const many = await newTenant(rig.gateway, rig.databaseUrl)
  for (const peer of ['+4915112360001', '+4915112360002', '+4915112360003']) await exchange(many, peer)
  const behindAll = { order: 'desc' as const, bounds: [{ than: 'lt' as const, value: new Date(0), id: newId() }] }
  const query = { workspaceId: many.account.workspaceId, place: behindAll, take: 10 }
  expect(await readAmongNumbers(sql(rig.databaseUrl), query, 3)).toBe(null)
  expect(await readAmongNumbers(sql(rig.databaseUrl), query, 4)).toEqual([])
})

it('leaves out a conversation whose latest message is deleted while the page is read', async () => {
  const of = await newTenant(rig.gateway, rig.databaseUrl)
  const kept = await exchange(of, '+393331110001')
  const erased = await exchange(of, '+393331110002')
  const app = await openApp(rig.databaseUrl)
  const ctx = contextFor(app, of.account)
  const page = await pageOfConversations(ctx, { first: 20 })
  await sql(rig.databaseUrl).query('delete from messages where id = $1', [erased])
  const { edges, pageInfo } = await withMessages(ctx, page)
  expect(edges.map(({ node }) => node.lastMessage.id)).toEqual([kept])
  expect(pageInfo.hasNextPage).toBe(false)
})
