// The status of the message that was just sent, as it moves.
import { type LiveRowFragment, SentMessageDocument } from '../generated/send/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { Status } from '../ui/status.tsx'

/** It is read again, because events may have come before `first` did. */
export function SentStatus({ first }: { first: LiveRowFragment }) {
  const { data } = useRead(SentMessageDocument, { id: first.id })
  return <Status status={(data?.message ?? first).status} />
}
