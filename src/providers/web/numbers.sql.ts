// SQL of the network's answers about numbers.
import type { Sql } from '../../core/database/database.ts'

/** Answers of the last seven days. */
export async function readNumbers(sql: Sql, instanceId: string, phones: readonly string[]): Promise<Map<string, boolean>> {
  const { rows } = await sql.query<{ phone: string; exists: boolean }>({
    name: 'web.numbers.read',
    text: `select phone, exists from web_numbers
      where "instanceId" = $1 and phone = any($2::text[]) and "checkedAt" > now() - interval '7 days'`,
    values: [instanceId, phones],
  })
  return new Map(rows.map(({ phone, exists }) => [phone, exists]))
}

export async function storeNumbers(
  sql: Sql,
  instanceId: string,
  answers: readonly { phone: string; exists: boolean }[],
): Promise<void> {
  await sql.query({
    name: 'web.numbers.store',
    text: `insert into web_numbers ("instanceId", phone, exists, "checkedAt")
      select $1, u.phone, u.exists, now() from unnest($2::text[], $3::boolean[]) as u(phone, exists)
      on conflict ("instanceId", phone) do update set exists = excluded.exists, "checkedAt" = excluded."checkedAt"`,
    values: [instanceId, answers.map(({ phone }) => phone), answers.map(({ exists }) => exists)],
  })
}
