// REST routes of contact groups, their members, and the groups of a contact.
import { z } from 'zod'
import { searched } from './contacts.ts'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, byId, byPage, deletedAnswer, found, listQuery, pageAnswer, pageNames, pageOf, row } from './route.ts'

graphql(`
  fragment ContactGroupRecord on ContactGroup {
    id
    name
    description
    membersCount
    createdAt
    updatedAt
  }
`)

const ListContactGroups = graphql(`
  query ListContactGroups($first: Int!, $after: String) {
    contactGroups(first: $first, after: $after) {
      nodes {
        ...ContactGroupRecord
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`)

const GetContactGroup = graphql(`
  query GetContactGroup($id: ID!) {
    contactGroup(id: $id) {
      ...ContactGroupRecord
    }
  }
`)

const CreateContactGroup = graphql(`
  mutation CreateContactGroup($input: CreateContactGroupInput!) {
    createContactGroup(input: $input) {
      ...ContactGroupRecord
    }
  }
`)

const UpdateContactGroup = graphql(`
  mutation UpdateContactGroup($id: ID!, $input: UpdateContactGroupInput!) {
    updateContactGroup(id: $id, input: $input) {
      ...ContactGroupRecord
    }
  }
`)

const DeleteContactGroup = graphql(`
  mutation DeleteContactGroup($id: ID!) {
    deleteContactGroup(id: $id) {
      id
      deleted
    }
  }
`)

const ListGroupMembers = graphql(`
  query ListGroupMembers($id: ID!, $first: Int!, $after: String, $search: String) {
    contactGroup(id: $id) {
      members(first: $first, after: $after, search: $search) {
        edges {
          addedAt
          node {
            id
            name
            phone
            tags
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
        totalCount
      }
    }
  }
`)

const ListGroupsOfContact = graphql(`
  query ListGroupsOfContact($id: ID!) {
    contact(id: $id) {
      groups {
        ...ContactGroupRecord
      }
    }
  }
`)

const groupRecord = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  membersCount: z.int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
const memberRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    phone: z.string(),
    tags: z.array(z.string()),
    addedAt: z.iso.datetime().describe('When the contact joined this group.'),
  })
  .meta({ id: 'GroupMember' })

const byGroupId = ({ params }: { params: Record<string, string> }) => ({ id: params.groupId as string })
/** The path parameter `groupId` is the `id` argument in GraphQL. */
const renames = { id: 'groupId' }

export const contactGroupRoutes = [
  row('GET', '/contacts/groups', {
    summary: 'List contact groups',
    document: ListContactGroups,
    query: z.object(listQuery(50)),
    renames: pageNames,
    variables: byPage,
    project: (data) => pageOf('groups', data.contactGroups),
    answer: pageAnswer('groups', groupRecord),
  }),
  row('POST', '/contacts/groups', {
    summary: 'Create a contact group',
    document: CreateContactGroup,
    input: 'CreateContactGroupInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.createContactGroup,
    answer: groupRecord,
  }),
  row('GET', '/contacts/groups/:groupId', {
    summary: 'Read a contact group',
    document: GetContactGroup,
    renames,
    variables: byGroupId,
    project: (data) => data.contactGroup,
    answer: groupRecord,
  }),
  row('PUT', '/contacts/groups/:groupId', {
    summary: 'Update a contact group',
    document: UpdateContactGroup,
    input: 'UpdateContactGroupInput',
    renames,
    variables: ({ params, body }) => ({ id: params.groupId as string, input: body as never }),
    project: (data) => data.updateContactGroup,
    answer: groupRecord,
  }),
  row('DELETE', '/contacts/groups/:groupId', {
    summary: 'Delete a contact group',
    document: DeleteContactGroup,
    renames,
    variables: byGroupId,
    project: (data) => data.deleteContactGroup,
    answer: deletedAnswer,
  }),
  row('GET', '/contacts/groups/:groupId/members', {
    summary: 'List the members of a contact group',
    document: ListGroupMembers,
    query: z.object({
      ...listQuery(50),
      search: searched
        .optional()
        .describe('Only members whose name or number contains this text, ignoring case; 1 to 100 characters.'),
    }),
    keepsEmpty: ['search'],
    renames: { ...pageNames, ...renames },
    variables: ({ params, query: { limit, cursor, search } }) => ({
      id: params.groupId as string,
      first: limit,
      after: cursor,
      search,
    }),
    project: (data, { limit }) => {
      const { edges, pageInfo, totalCount: total } = found(data.contactGroup).members
      const nodes = edges.map(({ addedAt, node }) => ({ ...node, addedAt }))
      return { ...pageOf('contacts', { nodes, pageInfo }), limit, total }
    },
    answer: pageAnswer('contacts', memberRecord).extend({
      limit: z.int().describe('The size of a page.'),
      total: z.int().describe('The number of matching members.'),
    }),
  }),
  row('GET', '/contacts/:id/groups', {
    summary: 'List the groups of a contact',
    operationId: 'groupsOfContact',
    document: ListGroupsOfContact,
    variables: byId,
    project: (data) => found(data.contact).groups,
    answer: z.array(groupRecord),
  }),
]
