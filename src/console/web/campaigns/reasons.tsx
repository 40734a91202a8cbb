// Why recipients failed: each reason in words with its next step, how many it concerns, and who they are.
import { text as failures } from '../failures/words.ts'
import type { CourseQuery } from '../generated/campaigns/graphql.ts'
import { pathIn, To, useAddress } from '../navigation.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import parts from '../ui/parts.module.css'
import { count, words } from '../words/words.ts'
import styles from './campaigns.module.css'
import { text } from './words.ts'

type Failure = NonNullable<CourseQuery['campaign']>['failures'][number]

/** The reason of a recipient in words: ours for the code, or else the code. */
export function reasonIn(code: string | null | undefined): string {
  if (!code) return words.none
  return failures.byCode[code]?.[0] ?? code
}

/** The failures are undefined until they are read. */
export function Reasons({ failures: found }: { failures: readonly Failure[] | undefined }) {
  return (
    <section className={parts.panel} aria-label={text.reasons}>
      <div className={parts.panelHead}>
        <h2>{text.reasons}</h2>
      </div>
      {!found?.length && <p className={`${parts.panelBody} ${parts.hint}`}>{found ? text.noFailures : words.loading}</p>}
      <ul aria-label={text.reasons} className={styles.reasons}>
        {found?.map((failure) => (
          <Reason key={`${failure.status} ${failure.error}`} {...failure} />
        ))}
      </ul>
    </section>
  )
}

function Reason({ status, error, errorCode, count: n, detail, messageId }: Failure) {
  const { team } = useWorkspace()
  const [, setAddress] = useAddress()
  const [reason, advice] = failures.byCode[errorCode] ?? [reasonIn(error), '']
  return (
    <li className={styles.reason}>
      <strong className={styles.number}>{count(n)}</strong>
      <div>
        <p>{reason}</p>
        <p className={parts.hint}>
          {advice} {error !== errorCode && <code>{error}</code>} {detail}
        </p>
        <p className={parts.row}>
          <button
            type="button"
            className={`${parts.button} ${styles.slim}`}
            aria-label={text.showReason(reason)}
            onClick={() => setAddress({ status, error })}
          >
            {text.show}
          </button>
          {messageId && <To to={pathIn(team, `messages/${messageId}`)}>{text.example}</To>}
        </p>
      </div>
    </li>
  )
}
