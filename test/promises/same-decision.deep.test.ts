// Proves that REST and GraphQL decide alike: for every route, every kind of caller, every id, and every state of the plan.
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

it('covers every route', () => {
  expect(new Set(shown.map(({ row }) => row))).toEqual(new Set(rows))
})

describe.each(callers)('a caller with %s', (_, open, expected) => {
  /** Two callers with identical resources, one for each surface, so that earlier requests have changed both alike. */
  let twins: [Caller, Caller]

  beforeAll(async () => {
    twins = await Promise.all([open(site), open(site)])
  })

  const decide = (one: Shown, about: (things: Things) => Asked) => decideBoth(twins, one, about)

  it.each(requests)('gets the same decision over REST and GraphQL: %s', async (_, one) => {
    const { code, message } = await decide(one, one.about)
    expect({ code, message }).toEqual({ code: expected(one.row), message: code && expect.any(String) })
  })

  it.each(withBodies)('gets the same refusal of an empty body: %s', async (_, one) => {
    const { code } = await decide(one, (things) => ({ ...one.about(things), body: {} }))
    const first = expected(one.row)
    expect(code).toBe(comesFirst(first) ? first : 'VALIDATION_ERROR')
  })

  it.each(withIds)('gets the same decision about ids that do not exist: %s', async (_, one) => {
    const { code } = await decide(one, () => one.about(nobodys))
    const first = expected(one.row)
    expect(code).toBe(comesFirst(first) ? first : codeOfNothing(one))
  })
})

const malformed = ['5', `${newId()}0`, `{${newId()}}`, newId().replaceAll('-', ''), "' or 1=1--"]

describe('ids that the caller does not own', () => {
  let caller: Caller
  let stranger: Caller
  let kept: unknown

  beforeAll(async () => {
    ;[caller, stranger] = await Promise.all([openCaller(site), openCaller(site)])
    kept = await keptOf(site.databaseUrl, stranger.account.workspaceId)
  })

  /** The answer of both surfaces when `id` replaces the caller's own, with the id itself masked. */
  async function answersTo({ row, about }: Shown, kind: Kind, id: string): Promise<Decision & { text: string }> {
    const asked = about({ ...caller.things, [kind]: id })
    const answers = await Promise.all([askRest(caller.api, row, asked), askGraph(caller.api, row, asked)])
    const [rest, graph] = [restDecision(answers[0]), graphDecision(row, asked, answers[1])]
    expect([graph.code, graph.message]).toEqual([rest.code, rest.message])
    const text = answers.map(({ status, headers, body }) => [status, headers.get('content-type'), JSON.stringify(body)])
    return { ...rest, text: JSON.stringify(text).replaceAll(id, 'ID') }
  }

  const naming = shown.flatMap((one) => one.names.map((kind): [string, Kind, Shown] => [one.name, kind, one]))

  it.each(naming)('in %s: %s are treated exactly like ids that do not exist', async (_, kind, one) => {
    const isMessage = kind === 'messages' || kind === 'received'
    const ofAnotherKind = caller.things[isMessage ? 'instances' : 'messages']
    const ids = [stranger.things[kind], ofAnotherKind, newId()]
    const [foreign, ...missing] = await Promise.all(ids.map((id) => answersTo(one, kind, id)))
    for (const { text } of missing) expect(text).toBe(foreign?.text)
    expect(foreign?.code).toBe(codeOfMissing(one, kind))
  })

  it.each(naming)('in %s: %s with malformed ids are refused, and the error names the field', async (_, kind, one) => {
    for (const { code, message, data } of await Promise.all(malformed.map((id) => answersTo(one, kind, id)))) {
      // Each message of a bulk request is judged alone.
      const outcome = one.row.path === '/messages/bulk' ? (data as { rejected: Decision[] }).rejected[0] : { code, message }
      expect(outcome).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringMatching(/id(s\.0)?: must be a UUID$/i) })
    }
  })

  it('leave the data of the other account unchanged', async () => {
    expect(await keptOf(site.databaseUrl, stranger.account.workspaceId)).toEqual(kept)
  })
})
