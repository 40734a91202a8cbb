// The secrets that a rotation replaced. Each signs for 24 hours from its own rotation, however often the secret is rotated meanwhile.
import { hourMs } from '../core/durations.ts'
import { previousSecretHours } from './policy.ts'

const keptMs = previousSecretHours * hourMs
/** Their signatures share one header, which must stay short. */
const most = 10

/** Returns the text to store when `retired` is replaced at `now`: newest first, each with the time until which it signs, as in `stored`. */
export function withRetired(stored: string | null, retired: string, now: Date): string {
  const entries = [
    `${retired}@${now.getTime() + keptMs}`,
    ...entriesOf(stored)
      .filter(({ until }) => until > now.getTime())
      .map(({ secret, until }) => `${secret}@${until}`),
  ]
  return entries.slice(0, most).join(' ')
}

/** Gives the secret of an earlier version its time: that of its row. */
export function withTime(stored: string, until: Date): string {
  return stored.includes('@') ? stored : `${stored}@${until.getTime()}`
}

/** Returns the secrets of a stored text that still sign at `now`, newest first. */
export function previousSecretsAt(stored: string | null, now: Date): string[] {
  return entriesOf(stored)
    .filter(({ until }) => until > now.getTime())
    .map(({ secret }) => secret)
}

interface Entry {
  secret: string
  /** In ms since 1970. A text of an earlier version has one secret without a time; its row says how long it signs. */
  until: number
}

function entriesOf(stored: string | null): Entry[] {
  return (stored ?? '').split(' ').flatMap((text) => {
    const [secret, until] = text.split('@')
    return secret ? [{ secret, until: until === undefined ? Number.POSITIVE_INFINITY : Number(until) }] : []
  })
}
