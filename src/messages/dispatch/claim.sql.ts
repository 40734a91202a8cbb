// SQL of claims: the row locks of due messages, and their lease.
import { periodOfUserSql } from '../../billing/admission/period.ts'
import { planInForceSql } from '../../billing/plans.ts'
import { arrayOf } from '../../core/database/array-parameter.ts'
import type { Sql } from '../../core/database/database.ts'
import type { OutgoingMessage } from '../../providers/outgoing.ts'
import type { WithInstance } from '../instance-of.ts'
import type { MessageSafety } from '../safety/safety.ts'
import { isFollowerSql } from './lines.sql.ts'
import { leaseMs, type OpenMessage } from './policy.ts'

/** An open message with all that the decision about it needs. */
export interface OpenRow extends Omit<OpenMessage, 'sendsOnce' | 'reconcileMs'>, WithInstance {
  id: string
  peer: string
  to: string
  type: OutgoingMessage['type']
  body: string
  mediaUrl: string | null
  content: OutgoingMessage['content']
  template: OutgoingMessage['template']
  workspaceId: string
  campaignId: string | null
  contactId: string | null
  ignoresSuppression: boolean
  scheduledAt: Date | null
  attempts: number
  /** The key under which it waits; null if it has a dispatch job. */
  heldBy: string | null
  counted: boolean
  ownerId: string
  plan: string
  /** False if the subscription that pays is inactive. */
  subscribed: boolean
  now: Date
}

const planInForce = planInForceSql('s')

/** SQL condition for a message `m` that an attempt may have brought to the network. */
export const mayHaveLeft = `(m."handedAt" is not null or m."leaseToken" is not null)`

/** Locks messages in the order of their ids, and reads what the decision about each depends on. */
export async function lockOpen(tx: Sql, ids: readonly string[]): Promise<OpenRow[]> {
  const { rows } = await tx.query<OpenRow>({
    name: 'messages.claim.read',
    text: `select m.id, m."instanceId", m.peer, m."to", m.type, m.body, m."mediaUrl", m.content, m.template, m."workspaceId", m."campaignId", m."contactId",
        m."ignoresSuppression", m."scheduledAt", m.status,
        m."dueAt", m."nextAttemptAt", m."leaseToken", m."leaseUntil", m."acceptedAt", m.attempts, case when m."waitingSince" is not null then m."heldBy" end as "heldBy", m."countedPeriod" is not null as counted,
        ${mayHaveLeft} as "mayHaveLeft",
        i.provider, i.settings, i.credentials, i."waNumber", i."deletedAt" is not null as "instanceDeleted", i.status = 'connected' as "instanceConnected",
        w."ownerId", ${planInForce} as plan, s.status <> 'inactive' as subscribed,
        ${isFollowerSql} as blocked,
        now() as now
      from messages m
      join instances i on i.id = m."instanceId"
      join workspaces w on w.id = m."workspaceId"
      join subscriptions s on s."userId" = w."ownerId"
      where m.id = any(${arrayOf('$1', 'uuid')}) order by m.id for update of m`,
    values: [ids],
  })
  return rows
}

/**
 * Gives each locked message a lease under its token, counts the attempt as handed over, and its quota in the present billing period if it
 * has none.
 */
export async function storeLeases(tx: Sql, leases: readonly { id: string; token: string }[]): Promise<void> {
  await tx.query({
    name: 'messages.claim.lease',
    text: `update messages m set status = 'sending', "leaseToken" = l.token, "leaseUntil" = clock_timestamp() + $3 * interval '1 millisecond',
        attempts = m.attempts + 1, "handedAt" = coalesce(m."handedAt", now()), "waitingSince" = null, "heldBy" = null, "nextAttemptAt" = null,
        "updatedAt" = now(), "countedPeriod" = coalesce(m."countedPeriod",
          (select ${periodOfUserSql('w."ownerId"')} from workspaces w where w.id = m."workspaceId"))
      from unnest(${arrayOf('$1', 'uuid')}, $2::uuid[]) as l(id, token) where m.id = l.id`,
    values: [leases.map(({ id }) => id), leases.map(({ token }) => token), leaseMs],
  })
}

/** Stores how locked messages were judged as they left. `cold` can only become false. */
export async function storeJudgements(
  tx: Sql,
  judged: readonly { id: string; cold: boolean; warnings: string[]; safety: MessageSafety }[],
): Promise<void> {
  await tx.query({
    name: 'messages.claim.judge',
    text: `update messages m set warnings = array(select jsonb_array_elements_text(j.warnings)), safety = j.safety, cold = m.cold and j.cold
      from unnest($1::uuid[], $2::jsonb[], $3::jsonb[], $4::boolean[]) as j(id, warnings, safety, cold) where m.id = j.id`,
    values: [
      judged.map(({ id }) => id),
      judged.map(({ warnings }) => JSON.stringify(warnings)),
      judged.map(({ safety }) => JSON.stringify(safety)),
      judged.map(({ cold }) => cold),
    ],
  })
}
