// Proves that an operation whose cost was estimated too low ends at a budget, which the error names, and that allowed ones are
// complete.
import { beforeAll, describe, expect, it } from 'vitest'
import { nobody, openOwnRig, type Rig } from '../rest-compat/rig.ts'
import { fillLarge } from './large.ts'

let rig: Rig
/** Ids of contacts by the number of groups that they are in. */
let inGroups: Record<number, string>

beforeAll(async () => {
  rig = await openOwnRig()
  inGroups = await fillLarge(rig)
})

async function ask(query: string, headers: Record<string, string> = {}) {
  const { body } = await rig.tenant.api.graphql(query, undefined, headers)
  return body
}

async function refusalOf(query: string): Promise<string> {
  const { errors, data } = await ask(query)
  expect(errors).toHaveLength(1)
  expect(errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR' })
  // The field that failed is null; everything above it that may be null is not.
  expect(Object.values(data ?? {}).filter((value) => value !== null)).toEqual([])
  return errors[0].message
}

describe('groups of a contact, whose number is unbounded', () => {
  it('are refused before execution when their members and the groups of those are selected too', async () => {
    const query = '{contacts(first:7){nodes{groups{members(first:6){nodes{groups{id}}}}}}}'
    expect(await refusalOf(query)).toMatch(/^The query's complexity is \d+; at most 50000 is allowed$/)
  })

  it.each([300, 800, 1000])('are all returned for a contact in %i groups, over REST and GraphQL', async (count) => {
    const { body } = await rig.tenant.api.get(`contacts/${inGroups[count]}/groups`)
    const names = Array.from({ length: count }, (_, i) => `Group ${String(i + 1).padStart(4, '0')}`)
    expect(body.data.map((group: { name: string }) => group.name)).toEqual(names)
    const { data } = await ask(`{ contact(id: "${inGroups[count]}") { groups { name } } }`)
    expect(data.contact.groups.map((group: { name: string }) => group.name)).toEqual(names)
  })

  it('are paged without loss or duplicates', async () => {
    const seen: string[] = []
    for (let after: string | undefined = ''; after !== undefined; after = seen.length % 100 === 0 ? seen.at(-1) : undefined) {
      const page = `groups(first: 100${after === '' ? '' : `, after: "${after}"`}) { name }`
      const { data }: { data: { contact: { groups: { name: string }[] } } } = await ask(
        `{ contact(id: "${inGroups[800]}") { ${page} } }`,
      )
      if (data.contact.groups.length === 0) break
      seen.push(...data.contact.groups.map(({ name }) => name))
    }
    expect(seen).toEqual(Array.from({ length: 800 }, (_, i) => `Group ${String(i + 1).padStart(4, '0')}`))
    for (const first of [0, 101]) {
      expect(await refusalOf(`{ contact(id: "${inGroups[300]}") { groups(first: ${first}) { name } } }`)).toBe(
        'first: must be between 1 and 100',
      )
    }
  })

  it('abort an operation that holds more items than its estimate', async () => {
    const each = Array.from({ length: 10 }, (_, i) => `a${i}: id`).join(' ')
    expect(await refusalOf(`{ contacts(first: 7) { nodes { groups { ${each} } } } }`)).toBe(
      'The response has more than 50000 items; request less at a time',
    )
  })
})

/** A page of bodies of 16 KiB each, selected `times` times. */
const bodies = (times: number) => {
  const aliases = Array.from({ length: Math.min(times, 14) }, (_, i) => `a${i}: body`).join(' ')
  return `{ messages(first: 100) { nodes { ${aliases} ${times > 14 ? 'body' : ''} } ${times > 15 ? 'edges { node { body } }' : ''} } }`
}

describe('the byte budget', () => {
  it('allows an answer of 20 MB, over GraphQL and REST', async () => {
    const { data } = await ask(bodies(13))
    expect(data.messages.nodes).toHaveLength(100)
    const node = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`a${i}`, '😀'.repeat(4096)]))
    expect(data.messages.nodes).toEqual(Array(100).fill(node))
    const { body } = await rig.tenant.api.get('contacts?limit=100')
    expect(body.data.contacts).toHaveLength(100)
    for (const { custom } of body.data.contacts) expect(Object.values(custom)).toEqual(Array(50).fill('😀'.repeat(1024)))
  })

  it('refuses larger answers, and answers that need too much data to be read', async () => {
    expect(await refusalOf(bodies(16))).toBe('The response is larger than 24 MiB; request less at a time')
    const refused = 'The response needs more than 6 MiB of data; request less at a time'
    expect(await refusalOf('{ contacts(first: 100) { nodes { custom } } }')).toBe(refused)
    // The budget covers data that Prisma reads, too.
    expect(
      await refusalOf('{ messages(first: 100) { nodes { contact { custom messages(first: 90) { nodes { body } } } } } }'),
    ).toBe(refused)
  })

  it('is smaller for an answer on a stream, which is sent in one piece', async () => {
    const { body } = await rig.tenant.api.graphql(bodies(6), undefined, { accept: 'text/event-stream' })
    expect(body).toContain('The response is larger than 8 MiB; request less at a time')
    const whole = await rig.tenant.api.graphql(bodies(4), undefined, { accept: 'text/event-stream' })
    expect(whole.body).toContain('event: complete')
    expect(whole.body).not.toContain('errors')
  })

  it('does not count columns that are not selected', async () => {
    const { data, errors } = await ask('{ contacts(first: 100) { nodes { name messages(first: 20) { nodes { id } } } } }')
    expect(errors).toBeUndefined()
    expect(data.contacts.nodes.map(({ messages }: { messages: { nodes: object[] } }) => messages.nodes.length)).toEqual(
      Array(100).fill(20),
    )
    const aliases = ['a', 'b', 'c'].map((name) => `${name}: contacts(first: 100) { nodes { name phone } }`).join(' ')
    expect((await ask(`{ ${aliases} contactGroups { nodes { members { nodes { name } } } } }`)).errors).toBeUndefined()
  })

  it('applies to each request separately: the next one is answered after a refusal', async () => {
    await refusalOf(bodies(16))
    expect((await ask('{ me { id } }')).data.me.id).toBe(rig.tenant.account.userId)
    expect((await ask(`{ contact(id: "${nobody}") { id } }`)).errors[0].extensions.code).toBe('NOT_FOUND')
  })
})

it('serves concurrent requests for large answers completely', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(bodies(6))))
  for (const { data } of answers) expect(data.messages.nodes).toHaveLength(100)
})
