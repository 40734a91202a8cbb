// REST routes of teams and their members.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, deletedAnswer, found, ofPeople, row } from './route.ts'

graphql(`
  fragment TeamRecord on Team {
    id
    name
    ownerId
    role
    membersCount
    seats
    createdAt
    updatedAt
  }
`)

graphql(`
  fragment TeamMemberRecord on TeamMember {
    userId
    email
    name
    role
    joinedAt
  }
`)

const ListTeams = graphql(`
  query ListTeams {
    teams {
      ...TeamRecord
    }
  }
`)

const GetTeam = graphql(`
  query GetTeam($id: ID!) {
    team(id: $id) {
      ...TeamRecord
    }
  }
`)

const CreateTeam = graphql(`
  mutation CreateTeam($input: CreateTeamInput!) {
    createTeam(input: $input) {
      ...TeamRecord
    }
  }
`)

const UpdateTeam = graphql(`
  mutation UpdateTeam($id: ID!, $input: UpdateTeamInput!) {
    updateTeam(id: $id, input: $input) {
      ...TeamRecord
    }
  }
`)

const DeleteTeam = graphql(`
  mutation DeleteTeam($id: ID!) {
    deleteTeam(id: $id) {
      id
      deleted
    }
  }
`)

const LeaveTeam = graphql(`
  mutation LeaveTeam($id: ID!) {
    leaveTeam(id: $id) {
      id
      left
    }
  }
`)

const ListTeamMembers = graphql(`
  query ListTeamMembers($id: ID!) {
    team(id: $id) {
      members {
        ...TeamMemberRecord
      }
    }
  }
`)

const UpdateTeamMember = graphql(`
  mutation UpdateTeamMember($teamId: ID!, $userId: ID!, $input: UpdateTeamMemberInput!) {
    updateTeamMember(teamId: $teamId, userId: $userId, input: $input) {
      ...TeamMemberRecord
    }
  }
`)

const RemoveTeamMember = graphql(`
  mutation RemoveTeamMember($teamId: ID!, $userId: ID!) {
    removeTeamMember(teamId: $teamId, userId: $userId) {
      id
      deleted
    }
  }
`)

export const role = z.enum(['owner', 'admin', 'collaborator'])
export const teamRecord = z.object({
  id: z.uuid(),
  name: z.string(),
  ownerId: z.uuid(),
  role,
  membersCount: z.int(),
  seats: z.int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
const memberRecord = z.object({
  userId: z.uuid(),
  email: z.string(),
  name: z.string(),
  role,
  joinedAt: z.iso.datetime(),
})

export const byTeamId = ({ params }: { params: Record<string, string> }) => ({ id: params.teamId as string })
const byMember = ({ params: { teamId, userId } }: { params: Record<string, string> }) => ({
  teamId: teamId as string,
  userId: userId as string,
})

export const teamRoutes = [
  row('GET', '/teams', {
    ...ofPeople,
    summary: 'List your teams',
    document: ListTeams,
    variables: () => ({}),
    project: (data) => data.teams,
    answer: z.array(teamRecord),
  }),
  row('POST', '/teams', {
    ...ofPeople,
    summary: 'Create a team',
    document: CreateTeam,
    input: 'CreateTeamInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.createTeam,
    answer: teamRecord,
  }),
  row('GET', '/teams/:teamId', {
    ...ofPeople,
    summary: 'Read a team',
    document: GetTeam,
    variables: byTeamId,
    project: (data) => data.team,
    answer: teamRecord,
  }),
  row('PUT', '/teams/:teamId', {
    ...ofPeople,
    summary: 'Rename a team',
    document: UpdateTeam,
    input: 'UpdateTeamInput',
    variables: ({ params, body }) => ({ id: params.teamId as string, input: body as never }),
    project: (data) => data.updateTeam,
    answer: teamRecord,
  }),
  row('DELETE', '/teams/:teamId', {
    ...ofPeople,
    summary: 'Delete a team',
    document: DeleteTeam,
    variables: byTeamId,
    project: (data) => data.deleteTeam,
    answer: deletedAnswer,
  }),
  row('POST', '/teams/:teamId/leave', {
    ...ofPeople,
    summary: 'Leave a team',
    document: LeaveTeam,
    variables: byTeamId,
    project: (data) => data.leaveTeam,
    answer: z.object({ id: z.uuid(), left: z.literal(true) }),
  }),
  row('GET', '/teams/:teamId/members', {
    ...ofPeople,
    summary: 'List the members of a team',
    operationId: 'teamMembers',
    document: ListTeamMembers,
    variables: byTeamId,
    project: (data) => found(data.team).members,
    answer: z.array(memberRecord),
  }),
  row('PUT', '/teams/:teamId/members/:userId', {
    ...ofPeople,
    summary: 'Change the role of a member',
    document: UpdateTeamMember,
    input: 'UpdateTeamMemberInput',
    variables: ({ params, body }) => ({ ...byMember({ params }), input: body as never }),
    project: (data) => data.updateTeamMember,
    answer: memberRecord,
  }),
  row('DELETE', '/teams/:teamId/members/:userId', {
    ...ofPeople,
    summary: 'Remove a member',
    document: RemoveTeamMember,
    variables: byMember,
    project: (data) => data.removeTeamMember,
    answer: deletedAnswer,
  }),
]
