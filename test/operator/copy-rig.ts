// Compares databases in the tests of `gateway copy-database`.
import { sql } from '../kit/database.ts'
import { emptyDatabase } from '../kit/old-database.ts'

/** An empty database whose owner, the user of its URL, has no other right on the server. */
export async function ownedDatabase(): Promise<string> {
  const url = new URL(await emptyDatabase())
  const name = url.pathname.slice(1)
  await sql(url.href).query(
    `create role owner_of_${name} login password 'word'; alter database ${name} owner to owner_of_${name}`,
  )
  return Object.assign(url, { username: `owner_of_${name}`, password: 'word' }).href
}

/** Every row of every table of the gateway and of its job queue, as one hash a table, and where its sequences are. */
export async function contentOf(databaseUrl: string): Promise<Record<string, string>> {
  const pool = sql(databaseUrl)
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema in ('public', 'pgboss') and table_name <> '_prisma_migrations' and table_type = 'BASE TABLE'`,
  )
  const content: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await pool.query<{ hash: string }>(
      `select count(*) || ' ' || md5(coalesce(string_agg(t::text, E'\\n' order by t::text), '')) as hash from ${name} t`,
    )
    content[name] = rows[0]?.hash as string
  }
  const { rows: sequences } = await pool.query<{ name: string; last: string | null }>(
    'select schemaname || sequencename as name, last_value as last from pg_sequences',
  )
  for (const { name, last } of sequences) content[name] = String(last)
  return content
}

/** Lists the constraints, triggers with their state, indexes, partitions and unlogged tables of the database. */
export async function structureOf(databaseUrl: string): Promise<string[]> {
  const inSchemas = `in (select oid from pg_namespace where nspname in ('public', 'pgboss'))`
  const { rows } = await sql(databaseUrl).query<{ line: string }>(
    `select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as line from pg_constraint where connamespace ${inSchemas}
     union all select tgrelid::regclass || ' ' || tgname || ' ' || tgenabled::text from pg_trigger where not tgisinternal
     union all select oid::regclass || ' ' || relkind::text || relpersistence::text || coalesce(pg_get_expr(relpartbound, oid), '') from pg_class
       where relnamespace ${inSchemas} and relkind in ('r', 'p', 'i', 'I')
     order by 1`,
  )
  return rows.map(({ line }) => line)
}
