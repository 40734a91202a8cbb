// Ends the streams of revoked keys and ended sessions within 5 s. One query every 2 s covers all owners of streams in this process.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import type { BoundedWriter, Holder } from './bounded-writer.ts'

const pollMs = 2_000

function nameOf({ credentialId, teamId }: Holder): string {
  return `${credentialId} ${teamId}`
}

/** Selects the owners that may continue: keys not revoked, and valid sessions of people who are still in the team. */
const statement = `
  select h.i::int from unnest($1::uuid[], $2::uuid[]) with ordinality as h(id, team, i)
  where exists (select from api_keys k where k.id = h.id and k."revokedAt" is null)
    or exists (
      select from auth_sessions s where s.id = h.id and s."expiresAt" > now() and (h.team is null or exists (
        select from team_members m join teams t on t.id = m."teamId" and t."deletedAt" is null
        where m."teamId" = h.team and m."userId" = s."userId"
      ))
    )`

export function startRevocation(app: App, writers: ReadonlySet<BoundedWriter>): AsyncDisposable {
  const stopping = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(pollMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (writers.size === 0) continue
      await endRevoked().catch((error: Error) =>
        app.log.warn({ err: error.message }, 'keys of live streams could not be checked'),
      )
    }
  }

  async function endRevoked(): Promise<void> {
    const held = new Map([...writers].map(({ holder }) => [nameOf(holder), holder]))
    const holders = [...held.values()]
    const { rows } = await app.pool.query<{ i: number }>(statement, [
      holders.map(({ credentialId }) => credentialId),
      holders.map(({ teamId }) => teamId),
    ])
    const valid = new Set(rows.map(({ i }) => nameOf(holders[i - 1] as Holder)))
    for (const writer of [...writers]) {
      const name = nameOf(writer.holder)
      if (held.has(name) && !valid.has(name)) writer.leave('revoked')
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}
