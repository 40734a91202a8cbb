// REST routes of instances.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, byId, byIdWithInput, deletedAnswer, found, row } from './route.ts'

graphql(`
  fragment InstanceRecord on Instance {
    id
    name
    waNumber
    status
    webhook
    meta
    deletedAt
    createdAt
    updatedAt
  }
`)

graphql(`
  fragment InstanceStateRecord on InstanceState {
    instanceId
    status
    connected
    qr
    pairingCode
    lastConnectedAt
    lastDisconnectedAt
    lastError
  }
`)

const ListInstances = graphql(`
  query ListInstances {
    instances {
      ...InstanceRecord
    }
  }
`)

const GetInstance = graphql(`
  query GetInstance($id: ID!) {
    instance(id: $id) {
      ...InstanceRecord
    }
  }
`)

const GetInstanceState = graphql(`
  query GetInstanceState($id: ID!) {
    instance(id: $id) {
      state {
        ...InstanceStateRecord
      }
    }
  }
`)

const GetInstanceHealth = graphql(`
  query GetInstanceHealth($id: ID!) {
    instance(id: $id) {
      health {
        instanceId
        safetyState
        safetyScore
        firstConnectedAt
        warmupPolicy {
          state
          instanceAgeDays
          hourlyOutboundCap
          dailyOutboundCap
          hourlyUniqueRecipientsCap
          dailyUniqueRecipientsCap
          maxCampaignRecipients
          maxColdRatio
        }
        usageWindowSummary {
          outbound1h
          outbound24h
          uniqueRecipients1h
          uniqueRecipients24h
          inboundReplies24h
          inboundReplies7d
        }
        recommendations
      }
    }
  }
`)

const CreateInstance = graphql(`
  mutation CreateInstance($input: CreateInstanceInput!) {
    createInstance(input: $input) {
      ...InstanceRecord
    }
  }
`)

const UpdateInstance = graphql(`
  mutation UpdateInstance($id: ID!, $input: UpdateInstanceInput!) {
    updateInstance(id: $id, input: $input) {
      ...InstanceRecord
    }
  }
`)

const ConnectInstance = graphql(`
  mutation ConnectInstance($id: ID!, $phone: String) {
    connectInstance(id: $id, phone: $phone) {
      ...InstanceStateRecord
    }
  }
`)

const LogoutInstance = graphql(`
  mutation LogoutInstance($id: ID!) {
    logoutInstance(id: $id) {
      ...InstanceStateRecord
    }
  }
`)

const DeleteInstance = graphql(`
  mutation DeleteInstance($id: ID!) {
    deleteInstance(id: $id) {
      id
      deleted
    }
  }
`)

const instanceRecord = z.object({
  id: z.uuid(),
  name: z.string(),
  waNumber: z.string().nullable(),
  status: z.string(),
  webhook: z.looseObject({}).nullable(),
  meta: z.looseObject({}).nullable(),
  deletedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

const stateRecord = z.object({
  instanceId: z.uuid(),
  status: z.string(),
  connected: z.boolean(),
  qr: z.string().nullable(),
  pairingCode: z.string().nullable(),
  lastConnectedAt: z.iso.datetime().nullable(),
  lastDisconnectedAt: z.iso.datetime().nullable(),
  lastError: z.string().nullable(),
})

const healthRecord = z.object({
  instanceId: z.uuid(),
  safetyState: z.string(),
  safetyScore: z.int(),
  firstConnectedAt: z.iso.datetime().nullable(),
  warmupPolicy: z.object({
    state: z.string(),
    instanceAgeDays: z.number(),
    hourlyOutboundCap: z.int(),
    dailyOutboundCap: z.int(),
    hourlyUniqueRecipientsCap: z.int(),
    dailyUniqueRecipientsCap: z.int(),
    maxCampaignRecipients: z.int(),
    maxColdRatio: z.number(),
  }),
  usageWindowSummary: z.object({
    outbound1h: z.int(),
    outbound24h: z.int(),
    uniqueRecipients1h: z.int(),
    uniqueRecipients24h: z.int(),
    inboundReplies24h: z.int(),
    inboundReplies7d: z.int(),
  }),
  recommendations: z.array(z.string()),
})

export const instanceRoutes = [
  row('GET', '/instances', {
    summary: 'List instances',
    document: ListInstances,
    variables: () => ({}),
    project: (data) => data.instances,
    answer: z.array(instanceRecord),
  }),
  row('POST', '/instances', {
    summary: 'Create an instance',
    document: CreateInstance,
    input: 'CreateInstanceInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.createInstance,
    answer: instanceRecord,
  }),
  row('GET', '/instances/:id', {
    summary: 'Read an instance',
    document: GetInstance,
    variables: byId,
    project: (data) => data.instance,
    answer: instanceRecord,
  }),
  row('PUT', '/instances/:id', {
    summary: 'Update an instance',
    document: UpdateInstance,
    input: 'UpdateInstanceInput',
    variables: byIdWithInput,
    project: (data) => data.updateInstance,
    answer: instanceRecord,
  }),
  row('GET', '/instances/:id/state', {
    summary: 'Read the live state of an instance',
    document: GetInstanceState,
    variables: byId,
    project: (data) => found(data.instance).state,
    answer: stateRecord,
  }),
  row('GET', '/instances/:id/health', {
    summary: 'Read the health of an instance',
    document: GetInstanceHealth,
    variables: byId,
    project: (data) => found(data.instance).health,
    answer: healthRecord,
  }),
  row('POST', '/instances/:id/connect', {
    summary: 'Connect an instance',
    document: ConnectInstance,
    input: 'ConnectArguments',
    optionalBody: true,
    variables: ({ params, body }) => ({ id: params.id as string, phone: body.phone as string | undefined }),
    project: (data) => data.connectInstance,
    answer: stateRecord,
  }),
  row('POST', '/instances/:id/logout', {
    summary: 'Log an instance out',
    document: LogoutInstance,
    variables: byId,
    project: (data) => data.logoutInstance,
    answer: stateRecord,
  }),
  row('DELETE', '/instances/:id', {
    summary: 'Delete an instance',
    document: DeleteInstance,
    variables: byId,
    project: (data) => data.deleteInstance,
    answer: deletedAnswer,
  }),
]
