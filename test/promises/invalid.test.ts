// Proves that whatever the OpenAPI document forbids is refused with the name of the field, on both surfaces, and changes
// nothing.
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { Schema } from '../../rest-compat/openapi/zod.ts'
import type { Route } from '../../rest-compat/route.ts'
import { addressOf, askGraph, askRest, type Decision, graphDecision, restDecision, rows } from '../rest-compat/both.ts'
import { operationOf, paramsOf } from '../rest-compat/shown.ts'
import { keptOf } from '../rest-compat/things.ts'
import type { Known } from './arbitrary.ts'
import { type Caller, openCaller, openSite, type Site } from './callers.ts'
import { type Fault, faultsIn, queryFaultsIn } from './faults.ts'
import { knownIn } from './rules.ts'
import { runs } from './runs.ts'

let site: Site
let caller: Caller
let known: Known
let kept: unknown

beforeAll(async () => {
  site = await openSite()
  caller = await openCaller(site)
  known = knownIn(caller.things)
  kept = await keptOf(site.databaseUrl, caller.account.workspaceId)
})

const named = (some: readonly Route[]) => some.map((row) => [`${row.method} ${row.path}`, row] as const)
const bodySchema = (row: Route) => operationOf(row).requestBody?.content['application/json'].schema

/** Applies to every body, even inside an unknown field. */
const tooDeep: Fault = {
  path: '',
  what: 'deeper than any body is',
  value: fc.integer({ min: 65, max: 5_000 }).map((depth) => JSON.parse(`{"nonsense":${'['.repeat(depth)}${']'.repeat(depth)}}`)),
}

/** Tries each fault once, or as often as PROPERTY_RUNS says. */
async function tryEach(faults: Fault[], expectRefused: (value: never, fault: Fault) => Promise<void>): Promise<void> {
  for (const fault of faults) {
    const promise = fc.asyncProperty(fault.value, (value) => expectRefused(value as never, fault))
    const run = await fc.check(promise, runs(1))
    if (run.failed) throw new Error(`${fault.path}: ${fault.what}\n${fc.defaultReportMessage(run)}`, { cause: run.errorInstance })
  }
  expect(await keptOf(site.databaseUrl, caller.account.workspaceId)).toEqual(kept)
}

it.each(named(rows.filter(bodySchema)))('%s refuses each fault of a body and names its field', async (_, row) => {
  const faults = [tooDeep, ...faultsIn(bodySchema(row) as Schema, known)]
  await tryEach(faults, (body, fault) => expectRefused(row, body, fault))
})

async function expectRefused(row: Route, body: unknown, { path, what }: Fault): Promise<void> {
  const asked = { params: paramsOf(row, caller.things), body }
  const rest = await askRest(caller.api, row, asked)
  const decision = decisionAbout(path, restDecision(rest))
  expect(decision.code).toBe('VALIDATION_ERROR')
  const place = path.replace(/^messages\.0\.?/, '') || (path ? 'message' : 'body')
  expect(decision.message).toMatch(new RegExp(`(^|; )${place.replaceAll('.', '\\.')}: `))
  // GraphQL coerces a single value to a list, and has no request body of its own.
  if (path === '' || what.endsWith('in place of array')) return
  expect(decisionAbout(path, graphDecision(row, asked, await askGraph(caller.api, row, asked)))).toEqual(decision)
}

/** Each message of a bulk request is judged alone. */
function decisionAbout(path: string, decision: Decision): Decision {
  if (!path.startsWith('messages.0')) return decision
  const { rejected, accepted } = decision.data as { rejected: { code: string; message: string }[]; accepted: unknown[] }
  expect(accepted).toEqual([])
  return { ...(rejected[0] as { code: string; message: string }), data: null }
}

it.each(named(rows.filter(({ query }) => query)))('%s refuses each fault of a query and names its parameter', async (_, row) => {
  const params = paramsOf(row, caller.things)
  const parameters = operationOf(row).parameters?.filter((one) => one.in === 'query') ?? []
  const needed = parameters.filter(({ required }) => required).map(({ name }) => [name, '+4915112345678'])
  for (const { name, schema } of parameters) {
    await tryEach(queryFaultsIn(schema), async (value: string) => {
      const asked = { params, query: { ...Object.fromEntries(needed), [name]: value } }
      const decision = restDecision(await askRest(caller.api, row, asked))
      // A faulty entry of a list is named by its position.
      expect(decision).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringMatching(`^${name}(\\.\\d+)?: `) })
      // Some parameters exist only in REST and are never passed to the GraphQL schema.
      if (!row.query?.safeParse(asked.query).success) return
      expect(graphDecision(row, asked, await askGraph(caller.api, row, asked))).toEqual(decision)
    })
    const twice = new URLSearchParams([...needed, [name, '1'], [name, '1']])
    const ask = row.method === 'DELETE' ? caller.api.delete : caller.api.get
    const { body } = await ask(`${addressOf(row.path, { params }).slice(1)}?${twice}`)
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringMatching(`^${name}: `) })
  }
})
