// The person's sessions: which one this is, and a button to end each.
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { passes } from '../graph/passing.ts'
import { ApiError, rest } from '../session/auth-call.ts'
import { accessToken, signOut } from '../session/session.ts'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useOnce } from '../ui/use-once.ts'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { text as account } from './words.ts'

interface Session {
  id: string
  current: boolean
  ipAddress: string | null
  userAgent: string | null
  createdAt: string
}

/** `below` waits for the list, which would push it down. */
export function Sessions({ below }: { below: ReactNode }) {
  const [sessions, setSessions] = useState<Session[]>()
  const read = useTask(async () => setSessions(await rest('GET', 'auth/sessions', await accessToken())))
  const end = useTask(async (ended: readonly Session[]) => {
    for (const { id, current } of ended) {
      if (current) return await signOut()
      await rest('DELETE', `auth/sessions/${id}`, await accessToken()).catch(unlessGone)
    }
    await read.run()
  })
  const first = useCallback(read.run, [])
  useEffect(() => void first(), [first])
  // A gateway that was away is asked again, until it answers.
  useEffect(() => {
    if (!(read.error instanceof ApiError) || !passes(read.error)) return
    const timer = setTimeout(first, 1_500)
    return () => clearTimeout(timer)
  }, [read.error, first])
  const shown = useOnce(sessions !== undefined || Boolean(read.error))
  const others = (sessions ?? []).filter(({ current }) => !current)
  return (
    <>
      <section className={parts.stack} aria-label={account.sessions}>
        <div className={parts.head}>
          <h2>{account.sessions}</h2>
          {others.length > 0 && (
            <button type="button" className={parts.button} disabled={end.running} onClick={() => end.run(others)}>
              {account.endOthers}
            </button>
          )}
        </div>
        <Refusal error={read.error ?? end.error} />
        <Table
          name={account.sessions}
          columns={[account.browser, account.address, account.started, account.end]}
          loading={!sessions && !read.error}
          failed={read.error !== null}
          empty={words.none}
        >
          {(sessions ?? []).map((session) => (
            <Row
              key={session.id}
              cells={[
                <span key="browser">
                  {browserOf(session)} {session.current && <strong>({account.thisOne})</strong>}
                </span>,
                session.ipAddress,
                <Time key="started" at={session.createdAt} />,
                <button
                  key="end"
                  type="button"
                  className={parts.button}
                  aria-label={account.endOf(browserOf(session))}
                  disabled={end.running}
                  onClick={() => end.run([session])}
                >
                  {account.end}
                </button>,
              ]}
            />
          ))}
        </Table>
      </section>
      {shown && below}
    </>
  )
}

/** A session may have ended after the list was read. The others must end all the same. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== 'NOT_FOUND') throw error
}

/** A name for what a browser calls itself, from the most specific. */
function browserOf({ userAgent }: Session): string {
  const [, name] = userAgent?.match(/(Edg|OPR|Firefox|Chrome|Safari|curl)[/ ]/) ?? []
  const known: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' }
  return name ? (known[name] ?? name) : account.unknown
}
