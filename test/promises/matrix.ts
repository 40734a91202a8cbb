// The matrix of permissions in the console: each request to a route that the console shares with the public API, by each kind of person.
import { beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/core/errors.ts'
import { newId } from '../../src/core/id.ts'
import type { Asked, Decision } from '../rest-compat/both.ts'
import { type Shown, shown } from '../rest-compat/shown.ts'
import { kinds, type Things } from '../rest-compat/things.ts'
import { comesFirst, openSite, type Site } from './callers.ts'
import { codeOfNothing, decideBoth, decideInGraph } from './decide.ts'
import { people } from './people.ts'

export const requests = shown.filter(({ row }) => row.surfaces.includes('console')).map((one) => [one.name, one] as const)
export const withIds = requests.filter(([, { names }]) => names.length > 0)
const nobodys = Object.fromEntries(kinds.map((kind) => [kind, newId()])) as Things

/** Proves the decisions about those people: over both surfaces, which must be equal, or in the graph alone. */
export function describePeople(over: 'both surfaces' | 'the graph', names: readonly string[]): void {
  let site: Site

  beforeAll(async () => {
    site = await openSite()
  })

  describe.each(people.filter(([name]) => names.includes(name)))(`%s over ${over}`, (_, open, expected) => {
    let decide: (one: Shown, about: (things: Things) => Asked) => Promise<Decision>

    beforeAll(async () => {
      if (over === 'the graph') {
        const caller = await open(site)
        decide = (one, about) => decideInGraph(caller, one, about)
      } else {
        const twins = await Promise.all([open(site), open(site)])
        decide = (one, about) => decideBoth(twins, one, about)
      }
    })

    it.each(requests)('is allowed or refused: %s', async (_, one) => {
      const { code, message } = await decide(one, one.about)
      expect({ code, message }).toEqual({ code: expected(one.row), message: code && expect.any(String) })
    })

    it.each(withIds)('finds no ids that do not exist: %s', async (_, one) => {
      const { code } = await decide(one, () => one.about(nobodys))
      expectMissing(one, code, expected(one.row))
    })
  })
}

/** A missing or foreign resource is reported as not found before the role is checked. */
export function expectMissing(one: Shown, code: string | null, allowed: ErrorCode | null): void {
  const isFirst = comesFirst(allowed) && allowed !== 'FORBIDDEN'
  expect(code).toBe(isFirst ? allowed : codeOfNothing(one))
}
