// REST routes of team invitations and team API keys.
import { z } from 'zod'
import { issuedKeyRecord, keyRecord } from './api-keys.ts'
import { graphql } from './generated/gql.ts'
import { deletedAnswer, found, ofPeople, row } from './route.ts'
import { byTeamId, role, teamRecord } from './teams.ts'

graphql(`
  fragment TeamInvitationRecord on TeamInvitation {
    id
    email
    role
    status
    expiresAt
    createdAt
  }
`)

const ListTeamInvitations = graphql(`
  query ListTeamInvitations($id: ID!) {
    team(id: $id) {
      invitations {
        ...TeamInvitationRecord
      }
    }
  }
`)

const InviteToTeam = graphql(`
  mutation InviteToTeam($teamId: ID!, $input: InviteToTeamInput!) {
    inviteToTeam(teamId: $teamId, input: $input) {
      ...TeamInvitationRecord
    }
  }
`)

const RevokeTeamInvitation = graphql(`
  mutation RevokeTeamInvitation($teamId: ID!, $id: ID!) {
    revokeTeamInvitation(teamId: $teamId, id: $id) {
      id
      deleted
    }
  }
`)

const AcceptTeamInvitation = graphql(`
  mutation AcceptTeamInvitation($token: String!) {
    acceptTeamInvitation(token: $token) {
      ...TeamRecord
    }
  }
`)

const ListTeamApiKeys = graphql(`
  query ListTeamApiKeys($id: ID!) {
    team(id: $id) {
      apiKeys {
        ...ApiKeyRecord
      }
    }
  }
`)

const CreateTeamApiKey = graphql(`
  mutation CreateTeamApiKey($teamId: ID!, $input: CreateApiKeyInput!) {
    createTeamApiKey(teamId: $teamId, input: $input) {
      ...IssuedApiKeyRecord
    }
  }
`)

const RevokeTeamApiKey = graphql(`
  mutation RevokeTeamApiKey($teamId: ID!, $id: ID!) {
    revokeTeamApiKey(teamId: $teamId, id: $id) {
      id
      deleted
    }
  }
`)

const invitationRecord = z.object({
  id: z.uuid(),
  email: z.string(),
  role,
  status: z.enum(['pending', 'accepted', 'revoked', 'expired']),
  expiresAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
})

const byTeamAndId = ({ params: { teamId, id } }: { params: Record<string, string> }) => ({
  teamId: teamId as string,
  id: id as string,
})

export const teamAccessRoutes = [
  row('GET', '/teams/:teamId/invitations', {
    ...ofPeople,
    summary: 'List the invitations to a team',
    operationId: 'teamInvitations',
    document: ListTeamInvitations,
    variables: byTeamId,
    project: (data) => found(data.team).invitations,
    answer: z.array(invitationRecord),
  }),
  row('POST', '/teams/:teamId/invitations', {
    ...ofPeople,
    summary: 'Invite a person to a team',
    document: InviteToTeam,
    input: 'InviteToTeamInput',
    status: 201,
    variables: ({ params, body }) => ({ teamId: params.teamId as string, input: body as never }),
    project: (data) => data.inviteToTeam,
    answer: invitationRecord,
  }),
  row('DELETE', '/teams/:teamId/invitations/:id', {
    ...ofPeople,
    summary: 'Revoke an invitation',
    document: RevokeTeamInvitation,
    variables: byTeamAndId,
    project: (data) => data.revokeTeamInvitation,
    answer: deletedAnswer,
  }),
  row('POST', '/teams/invitations/accept', {
    ...ofPeople,
    summary: 'Accept an invitation',
    document: AcceptTeamInvitation,
    input: 'AcceptTeamInvitationArguments',
    variables: ({ body }) => ({ token: body.token as string }),
    project: (data) => data.acceptTeamInvitation,
    answer: teamRecord,
  }),
  row('GET', '/teams/:teamId/api-keys', {
    ...ofPeople,
    summary: 'List the API keys of a team',
    operationId: 'teamApiKeys',
    document: ListTeamApiKeys,
    variables: byTeamId,
    project: (data) => found(data.team).apiKeys,
    answer: z.array(keyRecord),
  }),
  row('POST', '/teams/:teamId/api-keys', {
    ...ofPeople,
    summary: 'Create an API key of a team',
    document: CreateTeamApiKey,
    input: 'CreateApiKeyInput',
    status: 201,
    variables: ({ params, body }) => ({ teamId: params.teamId as string, input: body as never }),
    project: (data) => data.createTeamApiKey,
    answer: issuedKeyRecord,
  }),
  row('DELETE', '/teams/:teamId/api-keys/:id', {
    ...ofPeople,
    summary: 'Revoke an API key of a team',
    document: RevokeTeamApiKey,
    variables: byTeamAndId,
    project: (data) => data.revokeTeamApiKey,
    answer: deletedAnswer,
  }),
]
