// Finds records of the workspace by what is typed: an id, a number, an id of the network, or a part of a name.
import { useEffect, useState } from 'react'
import { FindRecordsDocument, type FindRecordsQuery } from '../generated/find/graphql.ts'
import { ask } from '../graph/request.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { words } from '../words/words.ts'
import { text } from './words.ts'

export interface FoundRecord {
  id: string
  name: string
  /** The page of the record in its workspace. */
  page: string
}

/** The gateway looks for names from this length on. */
const shortest = 3
/** A pause in typing, so that not every letter is asked for. */
const pauseMs = 200

/** `looking` is true until the answer for exactly this text has come. */
export function useRecords(asked: string): { records: readonly FoundRecord[]; looking: boolean } {
  const { team } = useWorkspace()
  const [answer, setAnswer] = useState<{ asked: string; records: readonly FoundRecord[] }>({ asked: '', records: [] })
  const isAsked = asked.length >= shortest
  useEffect(() => {
    if (!isAsked) return
    let current = true
    const timer = setTimeout(() => {
      ask(team, FindRecordsDocument, { text: asked }).then(
        ({ find }) => current && setAnswer({ asked, records: find.map(recordOf) }),
        // Without an answer no record is found; pages and actions are.
        () => current && setAnswer({ asked, records: [] }),
      )
    }, pauseMs)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [team, asked, isAsked])
  const isThere = answer.asked === asked
  return { records: isAsked && isThere ? answer.records : [], looking: isAsked && !isThere }
}

function recordOf(found: FindRecordsQuery['find'][number]): FoundRecord {
  const { id, __typename: type } = found
  const named = (name: string, page: string): FoundRecord => {
    return { id, name: `${text.kinds[type]} · ${name}`, page }
  }
  switch (found.__typename) {
    case 'Message': {
      const party = found.direction === 'inbound' ? found.from : found.to
      return named(`${party} · ${words.status[found.status]}`, `messages/${id}`)
    }
    case 'Contact':
      return named(`${found.name} · ${found.phone}`, `contacts/${id}`)
    case 'ContactGroup':
      return named(found.name, `groups/${id}`)
    case 'Campaign':
      return named(found.name, `campaigns/${id}`)
    case 'Instance':
      return named(found.name, `instances/${id}`)
    case 'Template':
      return named(found.name, `templates/${id}`)
    case 'WebhookEndpoint':
      return named(found.url, `webhooks/${id}`)
    case 'WebhookDelivery':
      return named(words.event[found.event] ?? found.event, `webhooks/${found.webhookId}/deliveries/${id}`)
  }
}
