// REST routes of contacts.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, byId, byIdWithInput, deletedAnswer, listQuery, once, pageAnswer, pageNames, pageOf, row } from './route.ts'

graphql(`
  fragment ContactRecord on Contact {
    id
    name
    firstName
    lastName
    phone
    email
    tags
    custom
    createdAt
    updatedAt
  }
`)

export const ListContacts = graphql(`
  query ListContacts($first: Int!, $after: String, $sort: ContactSort, $filter: ContactFilter) {
    contacts(first: $first, after: $after, sort: $sort, filter: $filter) {
      nodes {
        ...ContactRecord
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`)

const GetContact = graphql(`
  query GetContact($id: ID!) {
    contact(id: $id) {
      ...ContactRecord
    }
  }
`)

const CreateContact = graphql(`
  mutation CreateContact($input: CreateContactInput!) {
    createContact(input: $input) {
      ...ContactRecord
    }
  }
`)

const UpdateContact = graphql(`
  mutation UpdateContact($id: ID!, $input: UpdateContactInput!) {
    updateContact(id: $id, input: $input) {
      ...ContactRecord
    }
  }
`)

const DeleteContact = graphql(`
  mutation DeleteContact($id: ID!, $erase: Boolean) {
    deleteContact(id: $id, erase: $erase) {
      id
      deleted
    }
  }
`)

export const contactRecord = z.object({
  id: z.uuid(),
  name: z.string(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  phone: z.string(),
  email: z.string().nullable(),
  tags: z.array(z.string()),
  custom: z.record(z.string(), z.string()),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

/**
 * An unescaped plus sign in a query string is decoded as a space. It is restored before the beginning of an E.164 number. A space before
 * other text is searched for as it is.
 */
export const searched = once
  .transform((value) => value.replace(/^ (?=[1-9]\d{0,14}$)/, '+'))
  .meta({ minLength: 1, maxLength: 100 })
const sorts = {
  'createdAt:desc': 'createdAt_desc',
  'createdAt:asc': 'createdAt_asc',
  'name:asc': 'name_asc',
  'name:desc': 'name_desc',
} as const

export const contactsQuery = z.object({
  ...listQuery(50),
  search: searched
    .optional()
    .describe('Only contacts whose name, number or e-mail address contains this text, ignoring case; 1 to 100 characters.'),
  tag: once.meta({ minLength: 1, maxLength: 50 }).optional().describe('Only contacts with this label.'),
  groupId: once.optional().describe('Only members of this group.'),
  sort: z
    .enum(['createdAt:desc', 'createdAt:asc', 'name:asc', 'name:desc'])
    .default('createdAt:desc')
    .transform((sort) => sorts[sort])
    .describe('The sort order.'),
})

export const contactRoutes = [
  row('GET', '/contacts', {
    summary: 'List contacts',
    document: ListContacts,
    query: contactsQuery,
    renames: pageNames,
    variables: ({ query: { limit, cursor, sort, ...filter } }) => ({ first: limit, after: cursor, sort, filter }),
    project: (data) => pageOf('contacts', data.contacts),
    answer: pageAnswer('contacts', contactRecord),
  }),
  row('POST', '/contacts', {
    summary: 'Create a contact',
    document: CreateContact,
    input: 'CreateContactInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.createContact,
    answer: contactRecord,
  }),
  row('GET', '/contacts/:id', {
    summary: 'Read a contact',
    document: GetContact,
    variables: byId,
    project: (data) => data.contact,
    answer: contactRecord,
  }),
  row('PUT', '/contacts/:id', {
    summary: 'Update a contact',
    document: UpdateContact,
    input: 'UpdateContactInput',
    variables: byIdWithInput,
    project: (data) => data.updateContact,
    answer: contactRecord,
  }),
  row('DELETE', '/contacts/:id', {
    summary: 'Delete a contact',
    document: DeleteContact,
    query: z.object({
      erase: z
        .enum(['true', 'false'], { error: 'must be true or false' })
        .transform((value) => value === 'true')
        .optional()
        .meta({ type: 'boolean', enum: undefined })
        .describe('True to erase its messages and files too; false by default.'),
    }),
    variables: ({ params, query }) => ({ ...byId({ params }), erase: query.erase ?? false }),
    project: (data) => data.deleteContact,
    answer: deletedAnswer,
  }),
]
