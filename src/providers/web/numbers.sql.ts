// SQL of the network's answers about numbers.
import type { Sql } from '../../core/database/database.ts'
import { unindexed } from '../../core/database/unindexed.ts'

/** Answers of the last seven days. */
export async function readNumbers(sql: Sql, instanceId: string, phones: readonly string[]): Promise<Map<string, boolean>> {
  const { rows } = await sql.query<{ phone: string; exists: boolean }>({
    name: 'web.numbers.read',
    text: `select n.phone, n.exists from unnest($1::uuid[], $2::text[]) as u(instance, phone)
      join web_numbers n on n."instanceId" = u.instance and n.phone = u.phone
      where ${unindexed(`n."checkedAt" > now() - interval '7 days'`)}`,
    values: [phones.map(() => instanceId), phones],
  })
  return new Map(rows.map(({ phone, exists }) => [phone, exists]))
}

/** Number of an address that has other digits than the number that was asked for. */
export async function readAddress(sql: Sql, instanceId: string, phone: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ address: string }>({
    name: 'web.numbers.address',
    text: 'select address from web_numbers where "instanceId" = $1 and phone = $2 and address is not null',
    values: [instanceId, phone],
  })
  return rows[0]?.address
}

/** The numbers that were asked for and have that address (index of instance and address). */
export async function readNumbersAt(sql: Sql, instanceId: string, address: string): Promise<string[]> {
  const { rows } = await sql.query<{ phone: string }>({
    name: 'web.numbers.at',
    text: `select n.phone from unnest($1::uuid[], $2::text[]) as u(instance, address)
      join web_numbers n on n."instanceId" = u.instance and n.address = u.address order by n.phone`,
    values: [[instanceId], [address]],
  })
  return rows.map(({ phone }) => phone)
}

export interface NumberAnswer {
  phone: string
  exists: boolean
  /** The number as the network writes it, if that has other digits. */
  address: string | null
}

export async function storeNumbers(sql: Sql, instanceId: string, answers: readonly NumberAnswer[]): Promise<void> {
  await sql.query({
    name: 'web.numbers.store',
    text: `insert into web_numbers ("instanceId", phone, exists, address, "checkedAt")
      select $1, u.phone, u.exists, u.address, now() from unnest($2::text[], $3::boolean[], $4::text[]) as u(phone, exists, address)
      on conflict ("instanceId", phone)
        do update set exists = excluded.exists, address = excluded.address, "checkedAt" = excluded."checkedAt"`,
    values: [
      instanceId,
      answers.map(({ phone }) => phone),
      answers.map(({ exists }) => exists),
      answers.map(({ address }) => address),
    ],
  })
}
