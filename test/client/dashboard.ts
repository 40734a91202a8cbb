// dashboard.ts: sends a message and follows the events of all messages, also after the connection was lost.
import { createClient, NetworkError } from 'graphql-sse'
import { graphql } from './generated/gql.ts'
import type { FollowSubscription, TypedDocumentString } from './generated/graphql.ts'

const url = `${process.env.URL}/graphql`
const headers = { 'x-api-key': process.env.KEY as string }

const Overview = graphql(`
  query Overview {
    events(last: 1) {
      pageInfo {
        endCursor
      }
    }
    messages(first: 3) {
      nodes {
        to
        status
      }
    }
  }
`)

const Send = graphql(`
  mutation Send($input: SendMessageInput!) {
    sendMessage(input: $input) {
      to
      status
    }
  }
`)

const Follow = graphql(`
  subscription Follow($after: String) {
    events(after: $after) {
      cursor
      type
      message {
        to
      }
    }
  }
`)

/** Sends a query or a mutation. The document gives the types of variables and data. */
async function request<Data, Variables>(document: TypedDocumentString<Data, Variables>, variables: Variables): Promise<Data> {
  const body = JSON.stringify({ query: document, variables })
  const response = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
  const { data, errors } = (await response.json()) as { data: Data; errors?: { message: string }[] }
  if (errors) throw new Error(errors[0]?.message)
  return data
}

/** True if the next attempt may succeed: the connection was lost, or the gateway is busy or unavailable. A revoked key is refused for good. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof NetworkError)) return false
  const { response } = error
  return !response || response.status === 429 || response.status >= 500
}

/** Yields every event after a cursor, without end. After a lost connection it resumes after the last event. @throws when it is refused. */
async function* follow(after: string | null | undefined) {
  const client = createClient({ url, headers, retryAttempts: 0 })
  for (;;) {
    try {
      const results = client.iterate<FollowSubscription>({ query: Follow.toString(), variables: { after } })
      for await (const { data, errors } of results) {
        if (!data) throw new Error(errors?.[0]?.message)
        after = data.events.cursor
        yield data.events
      }
    } catch (error) {
      // The next connection resumes at the cursor.
      if (!mayPass(error)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

const { events, messages } = await request(Overview, {})
for (const message of messages.nodes) console.log(message?.to, message?.status)

const input = { instanceId: process.env.INSTANCE as string, to: '+4915112345678', type: 'text', text: 'Hello' } as const
const { sendMessage } = await request(Send, { input })
console.log(sendMessage.to, sendMessage.status)

for await (const { type, message } of follow(events.pageInfo.endCursor)) console.log(message?.to, type)
