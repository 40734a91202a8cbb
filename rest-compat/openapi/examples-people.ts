// Examples of console-only operations: request bodies that work for a person on the Pro plan, and records.
import type { Examples } from './example.ts'

const order = { max: { summary: 'The larger plan', value: { plan: 'max' } } }
const key = { plain: { summary: 'A key, named after its purpose', value: { name: 'Robot' } } }

/** The token of `acceptTeamInvitation` is only a sample: the real one is in the mail. */
export const peopleExamples: Examples = {
  createApiKey: key,
  createTeam: { plain: { summary: 'A team', value: { name: 'Support' } } },
  updateTeam: { name: { summary: 'Another name', value: { name: 'Sales' } } },
  updateTeamMember: { admin: { summary: 'Permission to manage the team', value: { role: 'admin' } } },
  inviteToTeam: {
    plain: { summary: 'A collaborator', value: { email: 'grace@example.com', role: 'collaborator' } },
  },
  acceptTeamInvitation: {
    token: { summary: 'The token of the mail', value: { token: 'BxPZ5T0sPBk1u9RPS2eUZ4BqFnNnq8Bv7cMTUdXYzM0' } },
  },
  createTeamApiKey: key,
  checkout: order,
  teamBillingCheckout: order,
}

const at = '2026-01-31T10:00:00.000Z'
const userId = '01980000-0000-7000-8000-00000000000b'
const teamId = '01980000-0000-7000-8000-000000000010'
const apiKey = {
  id: '01980000-0000-7000-8000-000000000011',
  name: 'Robot',
  prefix: 'svc_live_3f9a',
  access: 'full',
  createdAt: at,
  lastUsedAt: null,
}

export const peopleRecords: Record<string, unknown> = {
  Team: { id: teamId, name: 'Support', ownerId: userId, role: 'owner', membersCount: 1, seats: 4, createdAt: at, updatedAt: at },
  TeamMember: { userId, email: 'ada@example.com', name: 'Ada Lovelace', role: 'owner', joinedAt: at },
  TeamInvitation: {
    id: '01980000-0000-7000-8000-000000000012',
    email: 'grace@example.com',
    role: 'collaborator',
    status: 'pending',
    expiresAt: '2026-02-07T10:00:00.000Z',
    createdAt: at,
  },
  ApiKey: apiKey,
  IssuedApiKey: { ...apiKey, key: 'svc_live_3f9a…' },
  Checkout: { id: '01980000-0000-7000-8000-000000000013', provider: 'manual', status: 'pending', url: null },
}
