// Warns on every page of what stops messages: a quota, the subscription, an instance, an endpoint. It comes after the page and lies on the
// space below it, so that nothing moves.
import { TriangleAlert, X } from 'lucide-react'
import { useState } from 'react'
import { AttentionDocument, AttentionOfCollaboratorDocument } from '../generated/attention/graphql.ts'
import { useInstances } from '../graph/use-instances.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { pathIn, To } from '../navigation.tsx'
import { useSeesBilling, useWorkspace } from '../shell/workspace-context.ts'
import parts from '../ui/parts.module.css'
import { count } from '../words/words.ts'
import styles from './attention.module.css'
import { noticesOf } from './notices.ts'
import { text } from './words.ts'

/** No event tells of quotas, the subscription and endpoints. */
const againMs = 60_000

export function Attention() {
  const { team } = useWorkspace()
  const seesBilling = useSeesBilling()
  const whole = useRead(AttentionDocument, {}, { pause: !seesBilling })
  const ofCollaborator = useRead(AttentionOfCollaboratorDocument, {}, { pause: seesBilling })
  useRefresh(true, seesBilling ? whole.again : ofCollaborator.again, againMs)
  const [all, setAll] = useState(false)
  const [hidden, setHidden] = useState<readonly string[]>([])

  const endpoints = (whole.data ?? ofCollaborator.data)?.webhooks ?? []
  const notices = noticesOf(whole.data, useInstances(), endpoints).filter(({ key }) => !hidden.includes(key))
  const others = notices.length - 1
  return (
    <section
      aria-label={notices.length > 0 ? text.name : undefined}
      className={notices.length > 0 ? styles.attention : parts.unseen}
    >
      {/* Always there, so that screen readers say what appears in it. */}
      <div role="status" className={styles.list}>
        <ul>
          {(all ? notices : notices.slice(0, 1)).map((notice) => (
            <li key={notice.key} className={styles.notice}>
              <TriangleAlert size={16} aria-hidden />
              <To to={pathIn(team, notice.page)} className={styles.link}>
                {notice.text}
              </To>
            </li>
          ))}
        </ul>
      </div>
      {others > 0 && (
        <button type="button" className={`${parts.button} ${styles.button}`} aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? text.fewer : text.more(count(others))}
        </button>
      )}
      {notices.length > 0 && (
        <button
          type="button"
          className={`${parts.button} ${parts.quiet} ${styles.button}`}
          aria-label={text.hide}
          onClick={() => {
            setHidden([...hidden, ...notices.map(({ key }) => key)])
            setAll(false)
          }}
        >
          <X size={16} aria-hidden />
        </button>
      )}
    </section>
  )
}
