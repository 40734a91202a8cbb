// Ends the streams of revoked keys and ended sessions within 5 s. Two queries every 2 s cover all owners of streams in this process.
import { setTimeout as pause } from 'node:timers/promises'
import { readValidCredentials } from '../../accounts/credentials.sql.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { type Membership, readMemberships } from '../../teams/memberships.sql.ts'
import type { BoundedWriter, Holder } from './bounded-writer.ts'

const pollMs = 2_000

function nameOf({ credentialId, teamId }: Holder): string {
  return `${credentialId} ${teamId}`
}

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
    const revoked = new Set((await findRevoked(app.pool, [...held.values()])).map(nameOf))
    for (const writer of [...writers]) if (revoked.has(nameOf(writer.holder))) writer.leave('revoked')
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}

/** The owners whose key is revoked, whose session has ended, or who have left the team. */
async function findRevoked(sql: Sql, holders: readonly Holder[]): Promise<Holder[]> {
  const valid = await readValidCredentials(
    sql,
    holders.map(({ credentialId }) => credentialId),
  )
  const members = holders.filter((holder): holder is Holder & Membership => holder.kind === 'console' && holder.teamId !== null)
  const joined = members.length > 0 ? await readMemberships(sql, members) : []
  return [...holders.filter(({ credentialId }) => !valid.has(credentialId)), ...members.filter((_, i) => !joined[i])]
}
