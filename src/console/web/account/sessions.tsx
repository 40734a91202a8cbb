// The person's sessions: which one this is, and a button to end each.
import { useCallback, useEffect, useState } from 'react'
import { rest } from '../session/auth-call.ts'
import { accessToken, signOut } from '../session/session.ts'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Time } from '../ui/time.tsx'
import { useTask } from '../ui/use-task.ts'
import styles from './account.module.css'
import { text as account } from './words.ts'

interface Session {
  id: string
  current: boolean
  ipAddress: string | null
  userAgent: string | null
  createdAt: string
}

export function Sessions() {
  const [sessions, setSessions] = useState<Session[]>([])
  const read = useTask(async () => setSessions(await rest('GET', 'auth/sessions', await accessToken())))
  const end = useTask(async (ended: readonly Session[]) => {
    for (const { id, current } of ended) {
      if (current) return await signOut()
      await rest('DELETE', `auth/sessions/${id}`, await accessToken())
    }
    await read.run()
  })
  const first = useCallback(read.run, [])
  useEffect(() => void first(), [first])
  const others = sessions.filter(({ current }) => !current)
  return (
    <section className={parts.panel} aria-label={account.sessions}>
      <div className={parts.panelHead}>
        <h2>{account.sessions}</h2>
        {others.length > 0 && (
          <button type="button" className={parts.button} disabled={end.running} onClick={() => end.run(others)}>
            {account.endOthers}
          </button>
        )}
      </div>
      <Refusal error={read.error ?? end.error} />
      <table className={styles.table} aria-label={account.sessions}>
        <thead>
          <tr>
            <th scope="col">{account.browser}</th>
            <th scope="col">{account.address}</th>
            <th scope="col">{account.started}</th>
            <th scope="col">
              <span className={parts.unseen}>{account.end}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.id}>
              <td>
                {browserOf(session)} {session.current && <strong>({account.thisOne})</strong>}
              </td>
              <td>{session.ipAddress}</td>
              <td>
                <Time at={session.createdAt} />
              </td>
              <td>
                <button
                  type="button"
                  className={parts.button}
                  aria-label={account.endOf(browserOf(session))}
                  disabled={end.running}
                  onClick={() => end.run([session])}
                >
                  {account.end}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** A name for what a browser calls itself, from the most specific. */
function browserOf({ userAgent }: Session): string {
  const [, name] = userAgent?.match(/(Edg|OPR|Firefox|Chrome|Safari|curl)[/ ]/) ?? []
  const known: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }
  return name ? (known[name] ?? name) : account.unknown
}
