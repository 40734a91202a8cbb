// Ends the streams of revoked keys, ended sessions and lost roles within 5 s. Two queries every 2 s cover all owners of streams in this
// process.
import { readValidCredentials } from '../../accounts/credentials.sql.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { startLoop, wait } from '../../core/loop.ts'
import type { TeamRole } from '../../core/principal.ts'
import { manages } from '../../core/roles.ts'
import { type Membership, readRoles } from '../../teams/memberships.sql.ts'
import type { BoundedWriter, StreamOwner } from './bounded-writer.ts'

const pollMs = 2_000

function nameOf({ credentialId, teamId, role }: StreamOwner): string {
  return `${credentialId} ${teamId} ${role}`
}

export function startRevocation(app: App, writers: ReadonlySet<BoundedWriter>): AsyncDisposable {
  return startLoop(async (stop) => {
    while (!stop.aborted) {
      await wait(pollMs, stop)
      if (writers.size === 0) continue
      await endRevoked().catch((error: Error) =>
        app.log.warn({ err: error.message }, 'keys of live streams could not be checked'),
      )
    }
  })

  async function endRevoked(): Promise<void> {
    const owners = new Map([...writers].map(({ owner }) => [nameOf(owner), owner]))
    const revoked = new Set((await findRevoked(app.pool, [...owners.values()])).map(nameOf))
    for (const writer of [...writers]) if (revoked.has(nameOf(writer.owner))) writer.leave('revoked')
  }
}

/** The owners whose key is revoked, whose session has ended, who have left the team, or who do not manage it any more. */
async function findRevoked(sql: Sql, owners: readonly StreamOwner[]): Promise<StreamOwner[]> {
  const valid = await readValidCredentials(
    sql,
    owners.map(({ credentialId }) => credentialId),
  )
  const members = owners.filter((owner): owner is StreamOwner & Membership => owner.kind === 'console' && owner.teamId !== null)
  const roles = members.length > 0 ? await readRoles(sql, members) : []
  return [
    ...owners.filter(({ credentialId }) => !valid.has(credentialId)),
    ...members.filter(({ role }, i) => isLess(roles[i] ?? null, role)),
  ]
}

/** True if the present role shows less than the one that the stream was opened with. A process of an earlier version hands over none. */
function isLess(present: TeamRole | null, before: TeamRole | null | undefined): boolean {
  return present === null || (before != null && manages(before) && !manages(present))
}
