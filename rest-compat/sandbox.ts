// REST route of the sandbox network.
import { graphql } from './generated/gql.ts'
import { messageRecord } from './messages.ts'
import { byIdWithInput, row } from './route.ts'

const ReceiveInSandbox = graphql(`
  mutation ReceiveInSandbox($id: ID!, $input: SandboxInboundInput!) {
    receiveInSandbox(id: $id, input: $input) {
      ...MessageRecord
    }
  }
`)

export const sandboxRoutes = [
  row('POST', '/instances/:id/sandbox/inbound', {
    summary: 'Simulate an inbound message on the sandbox',
    document: ReceiveInSandbox,
    input: 'SandboxInboundInput',
    status: 201,
    variables: byIdWithInput,
    project: (data) => data.receiveInSandbox,
    answer: messageRecord,
  }),
]
