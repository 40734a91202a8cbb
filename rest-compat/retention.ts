// REST routes of the retention of a workspace.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, row } from './route.ts'

const GetRetention = graphql(`
  query GetRetention {
    retentionSettings {
      messagesDays
    }
  }
`)

const UpdateRetention = graphql(`
  mutation UpdateRetention($input: UpdateRetentionSettingsInput!) {
    updateRetentionSettings(input: $input) {
      messagesDays
    }
  }
`)

const settings = z.object({ messagesDays: z.number().nullable() })

export const retentionRoutes = [
  row('GET', '/retention-settings', {
    summary: 'Read how long messages are kept',
    document: GetRetention,
    variables: () => ({}),
    project: (data) => data.retentionSettings,
    answer: settings,
  }),
  row('PUT', '/retention-settings', {
    summary: 'Change how long messages are kept',
    document: UpdateRetention,
    input: 'UpdateRetentionSettingsInput',
    variables: bodyAsInput,
    project: (data) => data.updateRetentionSettings,
    answer: settings,
  }),
]
