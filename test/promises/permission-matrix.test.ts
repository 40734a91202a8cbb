// Proves the permissions in the console: every route that it shares with the public API, for every role. Each role is decided in the graph, and
// two of them over REST as well, so that each route is; matrix.deep.test.ts compares the surfaces for all.
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { furnish, keptOf, type Things } from '../rest-compat/things.ts'
import { openSite, type Site } from './callers.ts'
import { decideBoth } from './decide.ts'
import { describePeople, expectMissing, withIds } from './matrix.ts'
import { openMember, people } from './people.ts'

const compared = ['a person', "a team's collaborator"]

describePeople('both surfaces', compared)
describePeople(
  'the graph',
  people.map(([name]) => name).filter((name) => !compared.includes(name)),
)

describe("a team owner in the team's workspace", () => {
  let site: Site
  let here: Awaited<ReturnType<typeof openMember>>
  let personal: Things
  let kept: unknown

  beforeAll(async () => {
    site = await openSite()
    here = await openMember(site, 'owner')
    personal = await furnish(site.databaseUrl, here.person, api(site, here.person.apiKey))
    kept = await keptOf(site.databaseUrl, here.person.workspaceId)
  })

  it.each(withIds)('finds nothing of their personal workspace: %s', async (_, one) => {
    const { code } = await decideBoth([here, here], one, () => one.about(personal))
    expectMissing(one, code, null)
  })

  it('has changed nothing of their personal workspace', async () => {
    expect(await keptOf(site.databaseUrl, here.person.workspaceId)).toEqual(kept)
  })
})
