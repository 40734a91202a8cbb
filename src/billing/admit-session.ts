// Admission of people who are signed in: one statement a flush turns sessions into principals, in the workspace they ask for.
import { isPersonal, openAccount } from '../accounts/service.ts'
import type { App } from '../core/app.ts'
import { createBatch } from '../core/batch.ts'
import type { Principal, TeamRole } from '../core/context.ts'
import { failure } from '../core/errors.ts'
import { planInForceSql } from './plans.ts'

export interface SessionKnock {
  userId: string
  sessionId: string
  /** The team whose workspace is asked for; null for the personal one. */
  teamId: string | null
}

declare module '../core/app.ts' {
  interface App {
    /** Null for a session that is over. @throws TEAM_NOT_FOUND. */
    admitSession: (knock: SessionKnock) => Promise<Principal | null>
  }
}

interface Row {
  i: number
  sessionId: string
  userId: string
  /** Null where the user is not in the team, or there is no such team. */
  workspaceId: string | null
  teamId: string | null
  role: TeamRole | null
  ownerId: string
  plan: string
  active: boolean
}

/** Asks the database each time, so that a session that ended anywhere is refused here at once, and so is whoever left a team. */
export function createSessionAdmission(app: App): App['admitSession'] {
  const batch = createBatch<SessionKnock, Row | null>({
    max: 200,
    parallel: 2,
    run: (knocks) => readAll(app, knocks),
    observe: (size) => app.metrics.batchSize.observe({ batch: 'admit session' }, size),
  })
  return async (knock) => {
    let row = await batch(knock)
    if (row && !row.workspaceId && !knock.teamId) {
      // Whoever made the account ended before it had a workspace.
      await openAccount(app.pool, knock.userId)
      row = await batch(knock)
    }
    if (!row) return null
    const { workspaceId, sessionId, userId, teamId, role, ownerId, plan, active } = row
    if (!workspaceId) throw failure('TEAM_NOT_FOUND')
    return { credentialId: sessionId, kind: 'console', userId, workspaceId, teamId, role, ownerId, plan, active }
  }
}

/** The id of the workspace is found first, so that of the workspaces no more than those that are asked for are read. */
export const statement = `
select a.i::int, s.id as "sessionId", s."userId", w.id as "workspaceId", t.id as "teamId", m.role::text as role, w."ownerId",
  ${planInForceSql('b')} as plan,
  b.status <> 'inactive' as active
from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as a(session, "user", team, i)
join auth_sessions s on s.id = a.session and s."userId" = a."user" and s."expiresAt" > now()
left join team_members m on m."teamId" = a.team and m."userId" = s."userId"
left join teams t on t.id = m."teamId" and t."deletedAt" is null
left join workspaces w on w.id = case when a.team is null
  then (select p.id from workspaces p where p."ownerId" = s."userId" and ${isPersonal('p')} limit 1)
  else t."workspaceId" end
left join subscriptions b on b."userId" = w."ownerId"`

async function readAll(app: App, knocks: readonly SessionKnock[]): Promise<(Row | null)[]> {
  const { rows } = await app.pool.query<Row>({
    name: 'billing.admit-session',
    text: statement,
    values: [knocks.map(({ sessionId }) => sessionId), knocks.map(({ userId }) => userId), knocks.map(({ teamId }) => teamId)],
  })
  const found = new Map(rows.map((row) => [row.i, row]))
  return knocks.map((_, i) => found.get(i + 1) ?? null)
}
