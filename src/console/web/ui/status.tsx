// The status of a message: a word, an icon and a colour, so that none of them is needed alone.
import { Ban, Check, CheckCheck, CircleAlert, Clock, Inbox, Send } from 'lucide-react'
import { memo } from 'react'
import type { MessageStatus } from '../generated/graph/graphql.ts'
import { words } from '../words/words.ts'
import styles from './status.module.css'

const icons = {
  queued: Clock,
  sending: Send,
  sent: Check,
  delivered: CheckCheck,
  read: CheckCheck,
  failed: CircleAlert,
  cancelled: Ban,
  received: Inbox,
}

export const Status = memo(function Status({ status }: { status: MessageStatus }) {
  const Icon = icons[status]
  return (
    <span className={`${styles.status} ${styles[status]}`}>
      <Icon size={14} aria-hidden />
      {words.status[status]}
    </span>
  )
})
