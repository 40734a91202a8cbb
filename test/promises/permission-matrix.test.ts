// Proves the permissions in the console: every route that it shares with the public API, for every role, on both surfaces.
import { beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/core/errors.ts'
import { newId } from '../../src/core/id.ts'
import { api } from '../kit/api.ts'
import { type Shown, shown } from '../rest-compat/shown.ts'
import { furnish, keptOf, kinds, type Things } from '../rest-compat/things.ts'
import { comesFirst, openSite, type Site } from './callers.ts'
import { codeOfNothing, decideBoth, type Twins } from './decide.ts'
import { openMember, people } from './people.ts'

let site: Site

beforeAll(async () => {
  site = await openSite()
})

const requests = shown.filter(({ row }) => row.surfaces.includes('console')).map((one) => [one.name, one] as const)
const withIds = requests.filter(([, { names }]) => names.length > 0)
const nobodys = Object.fromEntries(kinds.map((kind) => [kind, newId()])) as Things

describe.each(people)('%s', (_, open, expected) => {
  let twins: Twins

  beforeAll(async () => {
    twins = await Promise.all([open(site), open(site)])
  })

  it.each(requests)('gets the same decision over REST and GraphQL: %s', async (_, one) => {
    const { code, message } = await decideBoth(twins, one, one.about)
    expect({ code, message }).toEqual({ code: expected(one.row), message: code && expect.any(String) })
  })

  it.each(withIds)('gets the same decision about ids that do not exist: %s', async (_, one) => {
    const { code } = await decideBoth(twins, one, () => one.about(nobodys))
    expectMissing(one, code, expected(one.row))
  })
})

describe("a team owner in the team's workspace", () => {
  let here: Awaited<ReturnType<typeof openMember>>
  let personal: Things

  beforeAll(async () => {
    here = await openMember(site, 'owner')
    personal = await furnish(site.databaseUrl, here.person, api(site, here.person.apiKey))
  })

  it.each(withIds)('finds nothing of their personal workspace: %s', async (_, one) => {
    const { code } = await decideBoth([here, here], one, () => one.about(personal))
    expectMissing(one, code, null)
  })

  it('does not change their personal workspace', async () => {
    const kept = await keptOf(site.databaseUrl, here.person.workspaceId)
    for (const [, one] of withIds) await decideBoth([here, here], one, () => one.about(personal))
    expect(await keptOf(site.databaseUrl, here.person.workspaceId)).toEqual(kept)
  })
})

/** A missing or foreign resource is reported as not found before the role is checked. */
function expectMissing(one: Shown, code: string | null, allowed: ErrorCode | null): void {
  const isFirst = comesFirst(allowed) && allowed !== 'FORBIDDEN'
  expect(code).toBe(isFirst ? allowed : codeOfNothing(one))
}
