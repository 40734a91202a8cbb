// An account that ends while it accepts an invitation is no member of the team afterwards.
import { beforeAll, expect, it } from 'vitest'
import { password } from '../accounts/person.ts'
import { whileHeld } from '../kit/held.ts'
import { type Crew, invited, newCrew, newPerson, openOwnRig, type Rig } from './rig.ts'

let rig: Rig
let crew: Crew

beforeAll(async () => {
  rig = await openOwnRig()
  crew = await newCrew(rig)
})

it('an account that ends while it accepts an invitation takes no seat of the team', async () => {
  const guest = await newPerson(rig)
  const { id, token } = await invited(rig, crew.teamId, guest.email)
  const held: [string, string] = ['select from team_invitations where id = $1 for update', id]
  const [accepted, ended] = await whileHeld(rig.databaseUrl, held, [
    () => guest.api.post('/api/teams/invitations/accept', { token }),
    () => guest.api.delete('/api/me', { password }),
  ])
  expect([accepted?.status, ended?.status]).toEqual([200, 200])
  const { body } = await crew.owner.api.get(`/api/teams/${crew.teamId}/members`)
  const names = [crew.owner, crew.admin, crew.collaborator].map(({ email }) => email)
  expect(body.data.map(({ email }: { email: string }) => email)).toEqual(names)
})
