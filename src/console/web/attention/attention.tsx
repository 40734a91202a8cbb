// Warns on every page of what stops messages: a quota, the subscription, an instance, an endpoint. It comes after the page and lies on the
// space below it, so that nothing moves.
// Imported here, because this part loads after the first page, which does not wait for it.
import './keep-focus.ts'
import '../refusals/words.ts'
import { TriangleAlert, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { AttentionDocument, AttentionOfCollaboratorDocument } from '../generated/attention/graphql.ts'
import { ask } from '../graph/request.ts'
import { useInstances } from '../graph/use-instances.ts'
import { pathIn, To, usePath } from '../navigation.tsx'
import { useManages, useWorkspace } from '../shell/workspace-context.ts'
import parts from '../ui/parts.module.css'
import { count } from '../words/words.ts'
import styles from './attention.module.css'
import { noticesOf, type Watched } from './notices.ts'
import { text } from './words.ts'

/** No event tells of quotas, the subscription and endpoints. */
const againMs = 60_000

/** Read with each page and once a minute. It goes around the cache, or the same fields of a page would be read twice. */
function useWatched(): Watched {
  const { team } = useWorkspace()
  const seesBilling = useManages()
  const path = usePath()
  const [watched, setWatched] = useState<Watched>({ endpoints: [] })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page may have changed something.
  useEffect(() => {
    let current = true
    async function read(): Promise<Watched> {
      if (!seesBilling && team) {
        const { webhooks, ...others } = await ask(team, AttentionOfCollaboratorDocument, { team })
        return { ...others, endpoints: webhooks }
      }
      const billing = await ask(team, AttentionDocument, {})
      return { billing, endpoints: billing.webhooks }
    }
    const look = () =>
      read().then(
        (next) => current && setWatched(next),
        // The page says that the gateway is away.
        () => {},
      )
    void look()
    const timer = setInterval(() => document.visibilityState === 'visible' && void look(), againMs)
    return () => {
      current = false
      clearInterval(timer)
    }
  }, [team, seesBilling, path])
  return watched
}

export function Attention() {
  const { team } = useWorkspace()
  const watched = useWatched()
  const [all, setAll] = useState(false)
  const [hidden, setHidden] = useState<readonly string[]>([])

  const notices = noticesOf(watched, useInstances()).filter(({ key }) => !hidden.includes(key))
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
              {notice.page === null ? (
                <button type="button" className={styles.link} onClick={() => location.reload()}>
                  {notice.text}
                </button>
              ) : (
                <To to={pathIn(team, notice.page)} className={styles.link}>
                  {notice.text}
                </To>
              )}
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
