// Proves that one caller who sends any document 24 times at once neither blocks the event loop nor keeps memory.
import { beforeAll, it } from 'vitest'
import { fillLarge } from '../graph/large.ts'
import { inspectable } from '../kit/holdings.ts'
import { openProcessRig, type ProcessRig } from '../rest-compat/rig.ts'
import { expectHarmless, fire, type Watch, watchFrom } from './flood.ts'

let rig: ProcessRig
let noticed: Watch
let inGroups: Record<number, string>
let key: Record<string, string>

const ask = (query: string) => Buffer.from(JSON.stringify({ query }))

beforeAll(async () => {
  rig = await openProcessRig(inspectable)
  inGroups = await fillLarge(rig)
  key = { 'x-api-key': rig.tenant.account.apiKey }
  noticed = watchFrom(rig.gateway)
  // The first requests load and compile what all later ones use, and the heap grows to what the largest answers need.
  const body = ask('{ contacts(first: 90) { nodes { custom } } }')
  await fire(rig.gateway, Array(4).fill({ path: '/graphql', headers: key, body }))
})

const aliases = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ')

const documents: [name: string, statuses: number[], query: () => string][] = [
  ['long texts many times over', [200, 429], () => `{ messages(first: 100) { nodes { ${aliases(14, 'body')} } } }`],
  ['long texts, as much as is allowed', [200, 429], () => '{ messages(first: 100) { nodes { body text: body } } }'],
  ['all fields of contacts', [200, 429], () => '{ contacts(first: 100) { nodes { id name custom } } }'],
  ['the same twice', [200, 429], () => '{ contacts(first: 100) { nodes { custom again: custom } } }'],
  ['members of groups of members', [200], () => '{contacts(first:7){nodes{groups{members(first:6){nodes{groups{id}}}}}}}'],
  ['groups of contacts', [200, 429], () => '{ contacts(first: 20) { nodes { groups { id name } } } }'],
  ['groups of one contact', [200, 429], () => `{ contact(id: "${inGroups[1000]}") { ${aliases(20, 'groups { id name }')} } }`],
  ['messages of contacts', [200, 429], () => '{ contacts(first: 20) { nodes { messages(first: 20) { nodes { body } } } } }'],
  ['nothing but names', [200, 400, 429], () => `{ ${aliases(400, '__typename')} }`],
  ['the schema', [200, 429], () => '{ __schema { types { name fields { name type { name ofType { name } } } } } }'],
  ['one type many times over', [200], () => `{ ${aliases(14, '__type(name: "Query") { fields { name args { name } } }')} }`],
]

it.each(documents)('delays no other caller, leaks nothing: %s', { timeout: 120_000, retry: 2 }, async (name, statuses, query) => {
  const body = ask(query())
  await expectHarmless(rig.gateway, noticed, name, statuses, () => ({ path: '/graphql', headers: key, body }))
})
