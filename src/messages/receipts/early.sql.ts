// SQL of early receipts: those whose message is not known yet by the network's id.
import type { Sql } from '../../core/database/database.ts'
import type { Receipt, ReceiptStatus } from '../../providers/reports.ts'

/** Time for which an early receipt is tried again. */
const keptSeconds = 120

/** The next multiple of two seconds after a time, so that the receipts of a while share a job. */
const nextRound = (at: string) => `to_timestamp(ceil(extract(epoch from ${at}) / 2) * 2)`

export interface EarlyReceipt extends Receipt {
  providerMessageId: string
}

export interface Trial {
  instanceId: string
  nextAt: Date
}

/** Keeps receipts, once each. Returns the times of the first trials. */
export async function insertEarly(tx: Sql, receipts: readonly EarlyReceipt[]): Promise<Trial[]> {
  const { rows } = await tx.query<Trial>({
    name: 'receipts.early.insert',
    text: `with kept as (
        insert into early_receipts ("instanceId", "providerMessageId", status, reference, at, error, detail, restricted, "nextAt")
        select u.instance, u.provider, u.status, u.message, u.at, u.error, u.detail, u.restricted, ${nextRound('now()')}
        from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[], $8::boolean[])
          as u(instance, provider, status, message, at, error, detail, restricted)
        join instances i on i.id = u.instance
        order by 1, 2, 3 on conflict do nothing returning "instanceId", "nextAt"
      ) select distinct "instanceId", "nextAt" from kept`,
    values: [
      receipts.map(({ instanceId }) => instanceId),
      receipts.map(({ providerMessageId }) => providerMessageId),
      receipts.map(({ status }) => status),
      receipts.map(({ messageId }) => messageId ?? null),
      receipts.map(({ at }) => at),
      receipts.map(({ error }) => error ?? null),
      receipts.map(({ detail }) => detail ?? null),
      receipts.map(({ restricted }) => restricted ?? false),
    ],
  })
  return rows
}

/**
 * Returns the trials that no waiting job of `queue` serves. Locks the jobs of the others until the transaction ends (FOR KEY SHARE): pg-boss
 * skips locked jobs and takes them later. Skips jobs that are about to start. Relies on the index of delayed jobs by their start.
 */
export async function withoutJob(tx: Sql, queue: string, trials: readonly Trial[]): Promise<Trial[]> {
  if (trials.length === 0) return []
  const { rows } = await tx.query<Trial>({
    name: 'receipts.early.jobs',
    text: `select u.instance as "instanceId", u.at as "nextAt" from unnest($2::uuid[], $3::timestamptz[]) as u(instance, at)
      left join lateral (
        select true as waits from pgboss.job where name = $1 and state < 'active' and start_after = u.at and start_after > created_on
          and data->>'instanceId' = u.instance::text limit 1 for key share skip locked
      ) j on true where j.waits is null`,
    values: [queue, trials.map(({ instanceId }) => instanceId), trials.map(({ nextAt }) => nextAt)],
  })
  return rows
}

interface Row {
  instanceId: string
  providerMessageId: string
  status: ReceiptStatus
  messageId: string | null
  at: Date
  error: string | null
  detail: string | null
  restricted: boolean
}

/** Locks at most `batch` receipts of the instance that are due, in the order of their times. */
export async function lockEarly(tx: Sql, instanceId: string, batch: number): Promise<EarlyReceipt[]> {
  const { rows } = await tx.query<Row>({
    name: 'receipts.early.lock',
    text: `select "instanceId", "providerMessageId", status, reference as "messageId", at, error, detail, restricted from early_receipts
      where "instanceId" = $1 and "nextAt" <= now() order by at, "keptAt" limit $2 for update skip locked`,
    values: [instanceId, batch],
  })
  return rows.map(({ messageId, error, detail, ...row }) => ({
    ...row,
    messageId: messageId ?? undefined,
    error: error ?? undefined,
    detail: detail ?? undefined,
  }))
}

const keys = (receipts: readonly EarlyReceipt[]) => [
  receipts.map(({ instanceId }) => instanceId),
  receipts.map(({ providerMessageId }) => providerMessageId),
  receipts.map(({ status }) => status),
]
const named = `unnest($1::uuid[], $2::text[], $3::text[]) as u(instance, provider, status)
  where e."instanceId" = u.instance and e."providerMessageId" = u.provider and e.status = u.status`

/** Deletes locked receipts. */
export async function deleteEarly(tx: Sql, receipts: readonly EarlyReceipt[]): Promise<void> {
  await tx.query(`delete from early_receipts e using ${named}`, keys(receipts))
}

/**
 * Sets the next trials of locked receipts, each after more than twice the age that it has, and deletes those that have been kept long
 * enough. Returns the times of the trials.
 */
export async function postponeEarly(tx: Sql, receipts: readonly EarlyReceipt[]): Promise<Trial[]> {
  const age = `now() - e."keptAt"`
  await tx.query(`delete from early_receipts e using ${named} and ${age} >= interval '${keptSeconds} seconds'`, keys(receipts))
  const { rows } = await tx.query<Trial>(
    `with later as (
       update early_receipts e
       set "nextAt" = ${nextRound(`e."keptAt" + least(interval '${keptSeconds} seconds', 2.5 * (${age}) + interval '1 second')`)}
       from ${named} returning e."instanceId", e."nextAt"
     ) select distinct "instanceId", "nextAt" from later`,
    keys(receipts),
  )
  return rows
}
