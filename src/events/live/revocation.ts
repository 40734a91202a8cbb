// Ends the streams of revoked keys and ended sessions within 5 s. Two queries every 2 s cover all owners of streams in this process.
import { setTimeout as pause } from 'node:timers/promises'
import { readValidCredentials } from '../../accounts/credentials.sql.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { type Membership, readMemberships } from '../../teams/memberships.sql.ts'
import type { BoundedWriter, StreamOwner } from './bounded-writer.ts'

const pollMs = 2_000

function nameOf({ credentialId, teamId }: StreamOwner): string {
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
    const owners = new Map([...writers].map(({ owner }) => [nameOf(owner), owner]))
    const revoked = new Set((await findRevoked(app.pool, [...owners.values()])).map(nameOf))
    for (const writer of [...writers]) if (revoked.has(nameOf(writer.owner))) writer.leave('revoked')
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}

/** The owners whose key is revoked, whose session has ended, or who have left the team. */
async function findRevoked(sql: Sql, owners: readonly StreamOwner[]): Promise<StreamOwner[]> {
  const valid = await readValidCredentials(
    sql,
    owners.map(({ credentialId }) => credentialId),
  )
  const members = owners.filter((owner): owner is StreamOwner & Membership => owner.kind === 'console' && owner.teamId !== null)
  const joined = members.length > 0 ? await readMemberships(sql, members) : []
  return [...owners.filter(({ credentialId }) => !valid.has(credentialId)), ...members.filter((_, i) => !joined[i])]
}
