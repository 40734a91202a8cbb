// What REST and the graph decide about one request, which must be the same.
import { expect } from 'vitest'
import { type ErrorCode, errors } from '../../src/core/errors.ts'
import { type Asked, askGraph, askRest, type Decision, graphDecision, restDecision } from '../rest-compat/both.ts'
import { paramsOf, type Shown } from '../rest-compat/shown.ts'
import { type Kind, kinds, type Things } from '../rest-compat/things.ts'
import type { Caller } from './callers.ts'

/** Two who have the same, so that both surfaces meet the same whatever was asked before. */
export type Twins = readonly [Caller, Caller]

/** Asks the one twin's REST and the other's graph; the answer is REST's. */
export async function decideBoth([one, other]: Twins, { row }: Shown, about: (things: Things) => Asked): Promise<Decision> {
  const [asked, askedOther] = [about(one.things), about(other.things)]
  const [rest, graph] = await Promise.all([askRest(one.api, row, asked), askGraph(other.api, row, askedOther)])
  const [decision, same] = [restDecision(rest), graphDecision(row, askedOther, graph)]
  expect([same.code, same.message]).toEqual([decision.code, decision.message])
  expect(decision.code ? [errors[decision.code as ErrorCode].status] : [row.status, 202]).toContain(rest.status)
  for (const { code, data } of [decision, same]) if (code === null) expect(row.answer.parse(data)).toEqual(data)
  return decision
}

/** Routes that narrow a list by what they name beside their path, or say of each of many what became of it. */
const ofMany = [
  'GET /messages',
  'GET /contacts',
  'POST /messages/bulk',
  'POST /contacts/bulk-delete',
  'POST /contacts/groups/:groupId/members',
  'DELETE /contacts/groups/:groupId/members',
]

/** What a route says where one of the things that it names is not there: null where that is no failure. */
export function codeOfMissing({ row }: Shown, kind: Kind): 'NOT_FOUND' | null {
  const inPath = Object.values(paramsOf(row, Object.fromEntries(kinds.map((one) => [one, one])) as Things))
  return ofMany.includes(`${row.method} ${row.path}`) && !inPath.includes(kind) ? null : 'NOT_FOUND'
}

/** The same where none of them is. */
export function codeOfNothing(one: Shown): 'NOT_FOUND' | null {
  return one.names.some((kind) => codeOfMissing(one, kind)) ? 'NOT_FOUND' : null
}
