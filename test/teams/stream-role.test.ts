// Streams that were opened in a team end when their owner becomes a collaborator, because the graph shows managers more.
import { beforeAll, expect, it } from 'vitest'
import { openSse, type SseReader } from '../events/sse.ts'
import { until } from '../kit/until.ts'
import { type Crew, newCrew, openRig, type Person, type Rig } from './rig.ts'

let rig: Rig
let crew: Crew

beforeAll(async () => {
  rig = openRig()
  crew = await newCrew(rig)
})

async function follow({ token }: Person): Promise<SseReader> {
  const headers = { authorization: `Bearer ${token}`, 'x-team-id': crew.teamId }
  const body = { query: 'subscription { events { payload instance { verifyToken } } }' }
  return await openSse(new URL('/graphql', rig.gateway.url), { headers, body })
}

async function setRole({ userId }: Person, role: string): Promise<void> {
  expect((await crew.owner.api.put(`/api/teams/${crew.teamId}/members/${userId}`, { role })).status).toBe(200)
}

it('ends those of an admin who becomes a collaborator, and no others', async () => {
  const [ofOwner, ofAdmin, ofCollaborator] = [await follow(crew.owner), await follow(crew.admin), await follow(crew.collaborator)]
  await setRole(crew.collaborator, 'admin')
  await setRole(crew.admin, 'collaborator')
  await until(() => ofAdmin.ended)
  expect(ofAdmin.events.map(({ data }) => data).join()).toContain('UNAUTHORIZED')
  const later = await follow(crew.admin)
  expect([later.status, later.ended, ofOwner.ended, ofCollaborator.ended]).toEqual([200, false, false, false])
})
