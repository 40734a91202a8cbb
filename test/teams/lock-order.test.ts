// Changes of teams lock the subscription, then the team, and several teams in the order of their ids, so that none waits for another in a circle.
import { beforeAll, describe, expect, it } from 'vitest'
import { password } from '../accounts/person.ts'
import type { Answer } from '../kit/api.ts'
import { whileHeld } from '../kit/held.ts'
import { type Crew, invited, join, newCrew, newPerson, newTeam, openRig, type Person, type Rig } from './rig.ts'

let rig: Rig
let crew: Crew
let guest: Person

beforeAll(async () => {
  rig = openRig()
  crew = await newCrew(rig)
  guest = await newPerson(rig)
})

const subscription = 'select from subscriptions where "userId" = $1 for update'
const team = 'select from teams where id = $1 for update'

describe('while the subscription is locked, as by the end of the account, the team is not', () => {
  const changes: Record<string, (teamId: string) => Promise<Answer>> = {
    'by an invitation': (teamId) =>
      crew.owner.api.post(`/api/teams/${teamId}/invitations`, { email: crew.outsider.email, role: 'admin' }),
    'by its acceptance': async (teamId) =>
      guest.api.post('/api/teams/invitations/accept', { token: (await invited(rig, teamId, guest.email)).token }),
    'by a new key': (teamId) => crew.owner.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Robot' }),
    'by its deletion': (teamId) => crew.owner.api.delete(`/api/teams/${teamId}`),
  }

  it.each(Object.keys(changes))('%s', async (name) => {
    const { teamId } = await newTeam(rig, crew.owner)
    const ask = () => changes[name]?.(teamId) as Promise<Answer>
    const [answer] = await whileHeld(rig.databaseUrl, [subscription, crew.owner.userId], [ask], [`${team} nowait`, teamId])
    expect(answer?.status).toBeLessThan(300)
  })
})

it('an account that ends locks its own teams and those of others in one order', async () => {
  const person = await newPerson(rig)
  const [others, own] = [await newTeam(rig, crew.owner), await newTeam(rig, person)]
  await join(rig, others.teamId, person, 'admin')
  const end = () => person.api.delete('/api/me', { password })
  const [answer] = await whileHeld(rig.databaseUrl, [team, others.teamId], [end], [`${team} nowait`, own.teamId])
  expect(answer?.status).toBe(200)
})
