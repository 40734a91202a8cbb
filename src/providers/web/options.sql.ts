// SQL of numbered options: the last ones that each recipient was sent, for seven days.
import type { Sql } from '../../core/database/database.ts'
import type { DeletedMessage } from '../provider.ts'

export interface Option {
  /** The button's id. */
  id: string
  label: string
}

export async function storeOptions(sql: Sql, instanceId: string, peer: string, options: readonly Option[]): Promise<void> {
  await sql.query({
    name: 'web.options.store',
    text: `insert into web_options ("instanceId", peer, options, "sentAt") values ($1, $2, $3, now())
      on conflict ("instanceId", peer) do update set options = excluded.options, "sentAt" = excluded."sentAt"`,
    values: [instanceId, peer, JSON.stringify(options)],
  })
}

export async function readOptions(sql: Sql, instanceId: string, peer: string): Promise<Option[]> {
  const { rows } = await sql.query<{ options: Option[] }>({
    name: 'web.options.read',
    text: `select options from web_options where "instanceId" = $1 and peer = $2 and "sentAt" > now() - interval '7 days'`,
    values: [instanceId, peer],
  })
  return rows[0]?.options ?? []
}

/**
 * Deletes the options of these messages, but not those that their recipients were sent later (primary key). Options may stand under the number
 * of an address that has other digits.
 */
export async function deleteOptions(tx: Sql, messages: readonly DeletedMessage[]): Promise<void> {
  await tx.query({
    name: 'web.options.delete',
    text: `with sent as (
        select * from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as u(instance, phone, left_at)
      ), offered as (
        select instance, phone as peer, left_at from sent
        union all select s.instance, n.address, s.left_at from sent s join web_numbers n on n."instanceId" = s.instance and n.phone = s.phone
      )
      delete from web_options o using offered f where o."instanceId" = f.instance and o.peer = f.peer and o."sentAt" <= f.left_at`,
    values: [messages.map(({ instanceId }) => instanceId), messages.map(({ to }) => to), messages.map(({ leftAt }) => leftAt)],
  })
}
