// SQL of the leases on connections: which process holds which instance, for how long, and under which token.
import type { Sql } from '../../core/database/database.ts'

/** A connection that this process holds. A higher token means another holder, or a change of what is wanted. */
export interface Lease {
  instanceId: string
  node: string
  token: string
}

const until = (parameter: string) => `clock_timestamp() + ${parameter} * interval '1 millisecond'`
/** A connection is wanted, or a device is to be removed. */
const wanted = `(s.open and (s."retryAt" is null or s."retryAt" <= clock_timestamp()) or s.removal is not null
  or exists (select 1 from web_removals r where r."instanceId" = s."instanceId"))`

/** Tells the other processes that this one can hold connections, and extends its leases that are about to run out. */
export async function sendHeartbeat(sql: Sql, node: string, leaseMs: number): Promise<void> {
  await sql.query({
    name: 'web.heartbeat',
    text: `with gone as (delete from web_nodes where "seenUntil" < clock_timestamp() - interval '1 hour' and node <> $1)
      insert into web_nodes (node, "seenUntil") values ($1, ${until('$2')}) on conflict (node) do update set "seenUntil" = excluded."seenUntil"`,
    values: [node, leaseMs],
  })
  await sql.query({
    name: 'web.renew',
    text: `update instance_leases set "leaseUntil" = ${until('$2')} where node = $1 and "leaseUntil" > clock_timestamp()`,
    values: [node, leaseMs],
  })
}

export interface Survey {
  /** Processes that can hold connections. */
  nodes: number
  /** Connections that are wanted, in all. */
  wanted: number
  /** Leases of this process, with the milliseconds that they last. */
  held: { instanceId: string; token: string; leftMs: number }[]
}

export async function survey(sql: Sql, node: string): Promise<Survey> {
  const { rows } = await sql.query<Survey>({
    name: 'web.survey',
    text: `select (select count(*)::int from web_nodes where "seenUntil" > clock_timestamp()) as nodes,
        (select count(*)::int from web_sessions s where ${wanted}) as wanted,
        (select coalesce(json_agg(json_build_object('instanceId', "instanceId", 'token', token::text,
            'leftMs', extract(epoch from "leaseUntil" - clock_timestamp()) * 1000)), '[]')
          from instance_leases where node = $1 and "leaseUntil" > clock_timestamp()) as held`,
    values: [node],
  })
  return rows[0] as Survey
}

/** Takes at most `limit` wanted connections that nobody holds. Locks their sessions, and skips those that another process takes. */
export async function claim(sql: Sql, node: string, leaseMs: number, limit: number): Promise<Lease[]> {
  const { rows } = await sql.query<Lease>({
    name: 'web.claim',
    text: `with free as (
        select s."instanceId" from web_sessions s where ${wanted} and not exists (
          select 1 from instance_leases l where l."instanceId" = s."instanceId" and l."leaseUntil" > clock_timestamp())
        order by s."instanceId" limit $3 for update of s skip locked
      )
      insert into instance_leases as l ("instanceId", node, token, "leaseUntil")
        select "instanceId", $1, 1, ${until('$2')} from free
      on conflict ("instanceId") do update set node = excluded.node, token = l.token + 1, "leaseUntil" = excluded."leaseUntil"
        where l."leaseUntil" <= clock_timestamp()
      returning "instanceId", node, token::text as token`,
    values: [node, leaseMs, limit],
  })
  return rows
}

/** Ends a lease at once. Its row stays, so that the token of the next holder is higher. */
export async function release(sql: Sql, { instanceId, node, token }: Lease): Promise<void> {
  await sql.query({
    name: 'web.release',
    text: 'update instance_leases set "leaseUntil" = clock_timestamp() where "instanceId" = $1 and node = $2 and token = $3',
    values: [instanceId, node, token],
  })
}

export async function leave(sql: Sql, node: string): Promise<void> {
  await sql.query('delete from web_nodes where node = $1', [node])
}

/** Makes the holder start again with what is wanted now: everything that it writes under the present token is refused from here on. */
export async function raiseToken(tx: Sql, instanceId: string): Promise<void> {
  await tx.query('update instance_leases set token = token + 1 where "instanceId" = $1', [instanceId])
}

/** Refuses everything that this holder writes under its token from here on. @throws LeaseLost when another one has the lease. */
export async function giveUpToken(tx: Sql, { instanceId, node, token }: Lease): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'web.give_up',
    text: 'update instance_leases set token = token + 1 where "instanceId" = $1 and node = $2 and token = $3',
    values: [instanceId, node, token],
  })
  if (!rowCount) throw new LeaseLost()
}

/** Locks the lease against a new holder until the transaction ends. @throws LeaseLost when another one has it. */
export async function lockLease(tx: Sql, { instanceId, node, token }: Lease): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'web.hold',
    text: 'select 1 from instance_leases where "instanceId" = $1 and node = $2 and token = $3 for share',
    values: [instanceId, node, token],
  })
  if (!rowCount) throw new LeaseLost()
}

/** Another process, or a later start of this one, holds the connection. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease on the connection was lost')
  }
}
