// The status of the message that was just sent, as it moves.

import { useState } from 'react'
import type { LiveRowFragment, MessageStatus } from '../generated/send/graphql.ts'
import { useFrames } from '../shell/workspace-context.ts'
import { Status } from '../ui/status.tsx'

export function SentStatus({ first }: { first: LiveRowFragment }) {
  const [status, setStatus] = useState<MessageStatus>(first.status)
  useFrames((events) => {
    const last = events.findLast(({ message }) => message?.id === first.id)
    if (last?.message) setStatus(last.message.status)
  })
  return <Status status={status} />
}
