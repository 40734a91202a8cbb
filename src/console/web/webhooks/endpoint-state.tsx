// The state of an endpoint, in words.
import type { EndpointRowFragment } from '../generated/webhooks/graphql.ts'
import { Time } from '../ui/time.tsx'
import { locale } from '../words/words.ts'
import styles from './webhooks.module.css'
import { text } from './words.ts'

export function EndpointState({ disabledAt, disabledReason, failingSince }: EndpointRowFragment) {
  return (
    <span className={styles.words}>
      {disabledAt ? (
        text.disabled(text.disabledReasons[disabledReason ?? ''] ?? disabledReason ?? '')
      ) : failingSince ? (
        <>
          {text.failing} <Time at={failingSince} />
        </>
      ) : (
        text.works
      )}
    </span>
  )
}

/** The share of attempts that succeeded in the last day. */
export function SuccessRate({ health: { successRate, attempts } }: EndpointRowFragment) {
  if (successRate === null || successRate === undefined || attempts === 0) {
    return <span className={styles.words}>{text.noAttempts}</span>
  }
  const format = { style: 'percent', maximumFractionDigits: 1 } as const
  return <>{new Intl.NumberFormat(locale, format).format(successRate)}</>
}
