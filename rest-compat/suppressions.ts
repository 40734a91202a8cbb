// REST routes of the do-not-contact list and of its settings.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, byPage, type FileRoute, listQuery, pageAnswer, pageNames, pageOf, row } from './route.ts'

const ListSuppressions = graphql(`
  query ListSuppressions($first: Int!, $after: String) {
    suppressions(first: $first, after: $after) {
      nodes {
        phone
        reason
        createdAt
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`)

const CreateSuppression = graphql(`
  mutation CreateSuppression($input: CreateSuppressionInput!) {
    createSuppression(input: $input) {
      phone
      reason
      createdAt
      existing
    }
  }
`)

const DeleteSuppression = graphql(`
  mutation DeleteSuppression($phone: String!) {
    deleteSuppression(phone: $phone) {
      phone
      deleted
    }
  }
`)

const GetSuppressionSettings = graphql(`
  query GetSuppressionSettings {
    suppressionSettings {
      keywords
      reply
    }
  }
`)

const UpdateSuppressionSettings = graphql(`
  mutation UpdateSuppressionSettings($input: UpdateSuppressionSettingsInput!) {
    updateSuppressionSettings(input: $input) {
      keywords
      reply
    }
  }
`)

const suppressionRecord = z.object({ phone: z.string(), reason: z.string(), createdAt: z.iso.datetime() })
const settingsRecord = z.object({ keywords: z.array(z.string()), reply: z.string().nullable() })

export const suppressionRoutes = [
  row('GET', '/suppressions', {
    summary: 'List the numbers that get no messages',
    document: ListSuppressions,
    query: z.object(listQuery(50)),
    renames: pageNames,
    variables: byPage,
    project: (data) => pageOf('suppressions', data.suppressions),
    answer: pageAnswer('suppressions', suppressionRecord),
  }),
  row('POST', '/suppressions', {
    summary: 'Add a number that is to get no messages',
    document: CreateSuppression,
    input: 'CreateSuppressionInput',
    status: 201,
    variables: bodyAsInput,
    project: ({ createSuppression: { existing: _, ...record } }) => record,
    answer: suppressionRecord,
    otherAnswer: {
      status: 200,
      description: 'The number was there before. This is its first record.',
      when: ({ createSuppression }) => createSuppression.existing,
      answer: suppressionRecord,
    },
  }),
  row('DELETE', '/suppressions/:phone', {
    summary: 'Take a number out of the list',
    document: DeleteSuppression,
    variables: ({ params }) => ({ phone: params.phone as string }),
    project: (data) => data.deleteSuppression,
    answer: z.object({ phone: z.string(), deleted: z.literal(true) }),
  }),
  row('GET', '/suppression-settings', {
    summary: 'Read the keywords and the reply to them',
    document: GetSuppressionSettings,
    variables: () => ({}),
    project: (data) => data.suppressionSettings,
    answer: settingsRecord,
  }),
  row('PUT', '/suppression-settings', {
    summary: 'Change the keywords or the reply to them',
    document: UpdateSuppressionSettings,
    input: 'UpdateSuppressionSettingsInput',
    variables: bodyAsInput,
    project: (data) => data.updateSuppressionSettings,
    answer: settingsRecord,
  }),
]

export const suppressionFiles: FileRoute[] = [
  {
    method: 'POST',
    path: '/suppressions/import',
    summary: 'Import numbers that are to get no messages',
    description:
      'Adds the numbers of the part `file` of a form: one number in E.164 a line, at most 100,000 lines. A line that is no number is counted and left out. If the request is interrupted, a part of the numbers may be added; repeat it to add the rest.',
    operationId: 'importSuppressions',
    errors: ['SUBSCRIPTION_INACTIVE'],
    surfaces: ['public', 'console'],
    scope: 'workspace',
    transfer: 'importSuppressions',
    status: 200,
    answer: z.object({
      added: z.int().describe('Numbers that were added.'),
      existing: z.int().describe('Numbers that were there before, also earlier in the file.'),
      invalid: z.int().describe('Lines that are no number in E.164.'),
    }),
  },
]
