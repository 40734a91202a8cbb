// REST and the graph decide alike: every route, whoever asks, whatever it names, whatever the plan has left.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { type Asked, askGraph, askRest, type Decision, graphDecision, restDecision, rows } from '../rest-compat/both.ts'
import { type Shown, shown } from '../rest-compat/shown.ts'
import { type Kind, keptOf, kinds, type Things } from '../rest-compat/things.ts'
import { type Caller, callers, comesFirst, openCaller, openSite, type Site } from './callers.ts'
import { codeOfMissing, codeOfNothing, decideBoth } from './decide.ts'

let site: Site

beforeAll(async () => {
  site = await openSite()
})

const requests = shown.map((one) => [one.name, one] as const)
const withIds = requests.filter(([, { names }]) => names.length > 0)
const withBodies = rows
  .filter(({ input, optionalBody }) => input && !optionalBody)
  .map((row) => [`${row.method} ${row.path}`, shown.find((one) => one.row === row) as Shown] as const)
const nobodys = Object.fromEntries(kinds.map((kind) => [kind, newId()])) as Things

it('is tried with every route', () => {
  expect(new Set(shown.map(({ row }) => row))).toEqual(new Set(rows))
})

describe.each(callers)('%s', (_, open, expected) => {
  /** Two who have the same, so that both surfaces meet the same whatever was asked before. */
  let twins: [Caller, Caller]

  beforeAll(async () => {
    twins = await Promise.all([open(site), open(site)])
  })

  const decide = (one: Shown, about: (things: Things) => Asked) => decideBoth(twins, one, about)

  it.each(requests)('%s', async (_, one) => {
    const { code, message } = await decide(one, one.about)
    expect({ code, message }).toEqual({ code: expected(one.row), message: code && expect.any(String) })
  })

  it.each(withBodies)('%s, with nothing said', async (_, one) => {
    const { code } = await decide(one, (things) => ({ ...one.about(things), body: {} }))
    const first = expected(one.row)
    expect(code).toBe(comesFirst(first) ? first : 'VALIDATION_ERROR')
  })

  it.each(withIds)("%s, about nobody's", async (_, one) => {
    const { code } = await decide(one, () => one.about(nobodys))
    const first = expected(one.row)
    expect(code).toBe(comesFirst(first) ? first : codeOfNothing(one))
  })
})

const malformed = ['5', `${newId()}0`, `{${newId()}}`, newId().replaceAll('-', ''), "' or 1=1--"]

describe('ids of others', () => {
  let caller: Caller
  let stranger: Caller
  let kept: unknown

  beforeAll(async () => {
    ;[caller, stranger] = await Promise.all([openCaller(site), openCaller(site)])
    kept = await keptOf(site.databaseUrl, stranger.account.workspaceId)
  })

  /** What both surfaces answer when `id` stands for the caller's own, but for the id itself. */
  async function answersTo({ row, about }: Shown, kind: Kind, id: string): Promise<Decision & { text: string }> {
    const asked = about({ ...caller.things, [kind]: id })
    const answers = await Promise.all([askRest(caller.api, row, asked), askGraph(caller.api, row, asked)])
    const [rest, graph] = [restDecision(answers[0]), graphDecision(row, asked, answers[1])]
    expect([graph.code, graph.message]).toEqual([rest.code, rest.message])
    const text = answers.map(({ status, headers, body }) => [status, headers.get('content-type'), JSON.stringify(body)])
    return { ...rest, text: JSON.stringify(text).replaceAll(id, 'ID') }
  }

  const naming = shown.flatMap((one) => one.names.map((kind): [string, Kind, Shown] => [one.name, kind, one]))

  it.each(naming)('in %s: %s are as if there were none', async (_, kind, one) => {
    const ofAnotherKind = caller.things[kind === 'messages' ? 'instances' : 'messages']
    const ids = [stranger.things[kind], ofAnotherKind, newId()]
    const [foreign, ...missing] = await Promise.all(ids.map((id) => answersTo(one, kind, id)))
    for (const { text } of missing) expect(text).toBe(foreign?.text)
    expect(foreign?.code).toBe(codeOfMissing(one, kind))
  })

  it.each(naming)('in %s: %s that are no ids are refused by name', async (_, kind, one) => {
    for (const { code, message, data } of await Promise.all(malformed.map((id) => answersTo(one, kind, id)))) {
      // Each of many messages is judged alone.
      const told = one.row.path === '/messages/bulk' ? (data as { rejected: Decision[] }).rejected[0] : { code, message }
      expect(told).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringMatching(/id(s\.0)?: must be a UUID$/i) })
    }
  })

  it('leave the others as they were', async () => {
    expect(await keptOf(site.databaseUrl, stranger.account.workspaceId)).toEqual(kept)
  })
})
