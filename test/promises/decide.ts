// What REST and the graph decide about one request, which must be the same.
import { expect } from 'vitest'
import { type ErrorCode, errors } from '../../src/core/errors.ts'
import { type Asked, askGraph, askRest, type Decision, graphDecision, restDecision } from '../rest-compat/both.ts'
import type { Shown } from '../rest-compat/shown.ts'
import type { Things } from '../rest-compat/things.ts'
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
