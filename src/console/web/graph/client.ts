// One urql client for each workspace, so that no row of one can show in another.
import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core'
import { cacheExchange, type UpdateResolver } from '@urql/exchange-graphcache'
import { type EventRowFragment, LiveRowFragmentDoc } from '../generated/graph/graphql.ts'
import { keys } from './keys.ts'
import { overAnswers } from './over-answers.ts'
import { fetchInTime, graphUrl, type Team } from './request.ts'

/** The events that one animation frame applies. */
export type Frame = EventRowFragment[]

export interface Graph {
  client: Client
  /** Writes the records of events into the cache, so that everything on screen that shows them changes. */
  apply: (frame: Frame) => void
}

/** A subscription of the client with itself: each frame of events arrives as one result, so that a page renders once a frame. */
const Frames = 'subscription Frames { frame }'

const LiveRow = gql(LiveRowFragmentDoc.toString())
const LiveInstance = gql('fragment LiveInstance on Instance { id status }')

const writeFrame: UpdateResolver = (result, _, cache) => {
  for (const { message, instance } of result.frame as Frame) {
    if (message && isNewer(message, cache.resolve({ __typename: 'Message', id: message.id }, 'updatedAt'))) {
      cache.writeFragment(LiveRow, { ...message, __typename: 'Message' })
    }
    if (instance) {
      // Another program has made it since the lists of instances were read.
      if (!cache.resolve({ __typename: 'Instance', id: instance.id }, 'name')) cache.invalidate('Query', 'instances')
      cache.writeFragment(LiveInstance, { __typename: 'Instance', id: instance.id, status: instance.status })
    }
  }
}

/**
 * An event that is older than the answer of a page must not overwrite it. Messages that no page has read are not kept, or the cache would
 * grow with every event.
 */
function isNewer({ updatedAt }: { updatedAt: string }, known: unknown): boolean {
  return typeof known === 'string' && known <= updatedAt
}

export function createGraph(team: Team): Graph {
  let emit: ((frame: Frame) => void) | undefined
  const { note, exchange } = overAnswers()
  const client = new Client({
    url: graphUrl,
    fetch: fetchInTime(team),
    // A query in an address would appear in the logs of proxies.
    preferGetMethod: false,
    exchanges: [
      cacheExchange({ keys, updates: { Subscription: { frame: writeFrame } } }),
      subscriptionExchange({
        forwardSubscription: () => ({
          subscribe({ next }) {
            emit = (frame) => next({ data: { __typename: 'Subscription', frame } } as never)
            return { unsubscribe() {} }
          },
        }),
      }),
      exchange,
      fetchExchange,
    ],
  })
  client.subscription(Frames, {}).subscribe(() => {})
  return {
    client,
    apply(frame) {
      for (const { message } of frame) if (message) note(message)
      emit?.(frame)
    },
  }
}
