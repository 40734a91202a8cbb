// The messages to and from a contact, newest first.
import { ConversationDocument } from '../generated/contacts/graphql.ts'
import { newer } from '../graph/newer.ts'
import { useList } from '../graph/use-list.ts'
import { pathIn, To } from '../navigation.tsx'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Status } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import styles from './contacts.module.css'
import { text } from './words.ts'

export function Conversation({ id }: { id: string }) {
  const { team } = useWorkspace()
  const list = useList(
    ConversationDocument,
    { id, first: 20 },
    (data) => data.contact?.messages,
    (message) => message.id,
    newer,
  )
  useFrames((events) => {
    if (events.some(({ message }) => message?.contactId === id)) list.refresh()
  })
  return (
    <section className={parts.panel} aria-label={text.conversation} aria-busy={list.loading}>
      <div className={parts.panelHead}>
        <h2>{text.conversation}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Refusal error={list.error} />
        {!list.loading && !list.error && list.rows.length === 0 && <p className={parts.hint}>{text.noMessages}</p>}
        <ol aria-label={text.conversation} className={styles.conversation}>
          {list.rows.map((message) => (
            <li key={message.id} className={message.direction === 'inbound' ? styles.theirs : styles.ours}>
              <To to={pathIn(team, `messages/${message.id}`)}>{message.body || words.type[message.type]}</To>
              <span className={parts.hint}>
                <Time at={message.createdAt} /> <Status status={message.status} />
              </span>
            </li>
          ))}
        </ol>
        <More list={list} />
      </div>
    </section>
  )
}
