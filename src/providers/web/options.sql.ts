// SQL of numbered options: the last ones that each recipient was sent, for seven days.
import type { Sql } from '../../core/database/database.ts'

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
