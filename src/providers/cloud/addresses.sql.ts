// SQL of the numbers that Meta writes with other digits than those that messages were sent to.
import type { Sql } from '../../core/database/database.ts'

/** Notes how Meta writes a number (primary key). */
export async function storeAddress(sql: Sql, instanceId: string, phone: string, address: string): Promise<void> {
  await sql.query({
    name: 'cloud.addresses.store',
    text: `insert into cloud_addresses as a ("instanceId", phone, address) values ($1, $2, $3)
      on conflict ("instanceId", phone) do update set address = excluded.address where a.address <> excluded.address`,
    values: [instanceId, phone, address],
  })
}

/** For each address, the numbers to which messages were sent that Meta writes like that (index of instance and address). */
export async function readNumbersAt(sql: Sql, instanceId: string, addresses: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await sql.query<{ address: string; phones: string[] }>({
    name: 'cloud.addresses.read',
    text: `select a.address, array_agg(distinct a.phone order by a.phone) as phones from unnest($1::uuid[], $2::text[]) as u(instance, address)
      join cloud_addresses a on a."instanceId" = u.instance and a.address = u.address group by a.address`,
    values: [addresses.map(() => instanceId), addresses],
  })
  return new Map(rows.map(({ address, phones }) => [address, phones]))
}

/** For each number to which messages were sent, how Meta writes it, if with other digits (primary key). */
export async function readAddresses(
  sql: Sql,
  numbers: readonly { instanceId: string; phone: string }[],
): Promise<(string | null)[]> {
  const { rows } = await sql.query<{ address: string | null }>({
    name: 'cloud.addresses.of',
    text: `select a.address from unnest($1::uuid[], $2::text[]) with ordinality as u(instance, phone, position)
      left join cloud_addresses a on a."instanceId" = u.instance and a.phone = u.phone order by position`,
    values: [numbers.map(({ instanceId }) => instanceId), numbers.map(({ phone }) => phone)],
  })
  return rows.map(({ address }) => address)
}
