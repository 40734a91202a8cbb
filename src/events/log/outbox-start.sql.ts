// SQL of the start of the outbox.
import type { Sql } from '../../core/database/database.ts'

/** Takes a position that no row gets. Every position that was given before is lower. */
export async function takePosition(sql: Sql): Promise<bigint> {
  const { rows } = await sql.query<{ position: string }>({
    name: 'events.position',
    text: `select nextval(pg_get_serial_sequence('outbox', 'position')) as position`,
  })
  return BigInt(rows[0]?.position ?? 0)
}

/**
 * The transactions of other sessions that write to the outbox. Each locks the table before its first row gets a position, and until its rows are
 * visible or gone. None of them is a prepared transaction, whose id would change.
 */
export async function readWriters(sql: Sql): Promise<Set<string>> {
  const { rows } = await sql.query<{ writer: string }>({
    name: 'events.writers',
    text: `select virtualtransaction as writer from pg_locks where locktype = 'relation' and relation = 'outbox'::regclass
      and database = (select oid from pg_database where datname = current_database())
      and mode = 'RowExclusiveLock' and pid is distinct from pg_backend_pid()`,
  })
  return new Set(rows.map(({ writer }) => writer))
}

/** The position before the first row above `after`, at most `most` (primary key). */
export async function readFirst(sql: Sql, after: bigint, most: bigint): Promise<bigint> {
  const { rows } = await sql.query<{ start: string }>({
    name: 'events.first',
    text: 'select least($2::bigint, (select position - 1 from outbox where position > $1 order by position limit 1)) as start',
    values: [after, most],
  })
  return BigInt(rows[0]?.start ?? after)
}
