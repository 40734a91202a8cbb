// Compares the decisions of REST and GraphQL about one request, which must be equal.
import { expect } from 'vitest'
import { type ErrorCode, errors } from '../../src/core/errors.ts'
import { type Asked, askGraph, askRest, type Decision, graphDecision, restDecision } from '../rest-compat/both.ts'
import { paramsOf, type Shown } from '../rest-compat/shown.ts'
import { type Kind, kinds, type Things } from '../rest-compat/things.ts'
import type { Caller } from './callers.ts'

/** Two callers with identical resources, one for each surface, so that earlier requests have changed both alike. */
export type Twins = readonly [Caller, Caller]

/**
 * Sends the request of one twin over REST and that of the other over GraphQL, expects equal decisions, and returns that of
 * REST.
 */
export async function decideBoth([one, other]: Twins, { row }: Shown, about: (things: Things) => Asked): Promise<Decision> {
  const [asked, askedOther] = [about(one.things), about(other.things)]
  const [rest, graph] = await Promise.all([askRest(one.api, row, asked), askGraph(other.api, row, askedOther)])
  const [decision, same] = [restDecision(rest), graphDecision(row, askedOther, graph)]
  expect([same.code, same.message]).toEqual([decision.code, decision.message])
  expect(decision.code ? [errors[decision.code as ErrorCode].status] : [row.status, row.otherAnswer?.status ?? 202]).toContain(
    rest.status,
  )
  for (const { code, data } of [decision, same]) if (code === null) expect(row.answer.parse(data)).toEqual(data)
  return decision
}

/** Sends the request over GraphQL alone. */
export async function decideInGraph(
  { api, things }: Caller,
  { row }: Shown,
  about: (things: Things) => Asked,
): Promise<Decision> {
  const asked = about(things)
  const decision = graphDecision(row, asked, await askGraph(api, row, asked))
  if (decision.code === null) expect(row.answer.parse(decision.data)).toEqual(decision.data)
  return decision
}

/** Routes that filter a list by an id outside their path, or that report a result for each of many items. */
const ofMany = [
  'GET /messages',
  'GET /contacts',
  'POST /messages/bulk',
  'POST /contacts/bulk-delete',
  'POST /contacts/groups/:groupId/members',
  'DELETE /contacts/groups/:groupId/members',
]

/** The code that a route answers when the named resource of this kind does not exist: null where that is no error. */
export function codeOfMissing({ row }: Shown, kind: Kind): 'NOT_FOUND' | null {
  const inPath = Object.values(paramsOf(row, Object.fromEntries(kinds.map((one) => [one, one])) as Things))
  return ofMany.includes(`${row.method} ${row.path}`) && !inPath.includes(kind) ? null : 'NOT_FOUND'
}

/** The same when none of the named resources exists. */
export function codeOfNothing(one: Shown): 'NOT_FOUND' | null {
  return one.names.some((kind) => codeOfMissing(one, kind)) ? 'NOT_FOUND' : null
}
