// The message as a phone would show it, and what stands in its way.
import { File, MapPin, UserRound } from 'lucide-react'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Time } from '../ui/time.tsx'
import { warningIn } from '../warnings/warning-in.ts'
import { count, words } from '../words/words.ts'
import type { Checked } from './check.ts'
import type { Input } from './input.ts'
import styles from './preview.module.css'
import { text as send } from './words.ts'

interface PreviewProps {
  input: Input | null
  checked: Checked
  /** False while the same refusal stands beside the button. */
  showsError: boolean
}

export function Preview({ input, checked: { template, message, error }, showsError }: PreviewProps) {
  const missing = template?.missing ?? []
  const isLater = message && Date.parse(message.dueAt) > Date.now() + 60_000
  return (
    <section aria-label={send.preview} className={parts.stack}>
      <div className={styles.phone}>
        <p className={styles.head}>{input?.to || send.nobody}</p>
        <Bubble input={input} filled={message ?? template} />
      </div>
      {missing.length > 0 && (
        <div className={`${parts.note} ${parts.refused}`}>
          <h2>{send.missing}</h2>
          <ul aria-label={send.missing}>
            {missing.map((name) => (
              <li key={name}>{name.startsWith('contact.') ? send.ofContact(name) : name.replace(/^custom\./, '')}</li>
            ))}
          </ul>
        </div>
      )}
      {showsError && <Refusal error={error} />}
      {message && message.warnings.length > 0 && (
        <ul aria-label={words.message.warnings} className={parts.note}>
          {message.warnings.map((warning) => (
            <li key={warning}>{warningIn(warning)}</li>
          ))}
        </ul>
      )}
      {message?.quota && (
        <p className={parts.hint}>
          {send.left(count(message.quota.leftAfter), count(message.quota.limit))}
          {isLater && (
            <>
              {' '}
              {send.leaves} <Time at={message.dueAt} exact />
            </>
          )}
        </p>
      )}
    </section>
  )
}

interface Filled {
  body: string
  mediaUrl?: string | null
}

/** `filled` has the text and file of the gateway, once it has answered; until then the form has them. */
function Bubble({ input, filled }: { input: Input | null; filled: Filled | undefined }) {
  const said = (name: string) => (input?.[name] === undefined ? '' : String(input[name]))
  const file = (input?.templateId && filled?.mediaUrl) || said('mediaUrl')
  const body = (input?.templateId && filled?.body) || said('text')
  const place = said('latitude') && said('longitude') ? `${said('latitude')}, ${said('longitude')}` : ''
  const texts = [said('title'), said('locationName'), said('description'), body, said('locationAddress'), said('footer')]
  const buttons = input?.buttons ?? []
  if (![file, place, said('contactId'), ...texts].some(Boolean) && buttons.length === 0) {
    return <p className={`${parts.hint} ${styles.nothing}`}>{send.previewEmpty}</p>
  }
  return (
    <div className={styles.bubble}>
      {file && (
        <p className={styles.attached}>
          <File size={18} aria-hidden />
          {fileName(file)}
        </p>
      )}
      {place && (
        <p className={styles.attached}>
          <MapPin size={18} aria-hidden />
          {place}
        </p>
      )}
      {said('contactId') && (
        <p className={styles.attached}>
          <UserRound size={18} aria-hidden />
          {words.type.contact}
        </p>
      )}
      {said('title') && <p className={styles.title}>{said('title')}</p>}
      {said('locationName') && <p className={styles.title}>{said('locationName')}</p>}
      {[said('description'), body, said('locationAddress')].filter(Boolean).map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      {said('footer') && <p className={parts.hint}>{said('footer')}</p>}
      {buttons.map(({ id, displayText }) => (
        <span key={id} className={styles.reply}>
          {displayText}
        </span>
      ))}
    </div>
  )
}

/** The last part of the address of a file, or the address while it is typed. */
function fileName(address: string): string {
  if (!URL.canParse(address)) return address
  const { pathname, host } = new URL(address)
  const last = pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(last) || host
  } catch {
    // A percent sign of its own, as before the rest of the address is typed.
    return last
  }
}
