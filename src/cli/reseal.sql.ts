// SQL of `gateway reseal`: reads sealed columns in the order of their primary key, and replaces values that have not changed since.
import type { Sql } from '../core/database/database.ts'

export interface SealedColumn {
  table: string
  /** The primary key. */
  key: readonly { name: string; type: 'uuid' | 'text' }[]
  column: string
  type: 'bytea' | 'text'
  /** For a column of JSON: the path of the value in it, in base64. */
  path?: readonly string[]
  /** SQL that leaves out rows whose value is not sealed. */
  where?: string
}

const id = [{ name: 'id', type: 'uuid' }] as const

/** Every column that holds something encrypted under SECRET_KEY. A test compares it with the models. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'auth_jwks', key: id, column: 'privateKey', type: 'text' },
  { table: 'webhook_endpoints', key: id, column: 'secret', type: 'bytea' },
  { table: 'webhook_endpoints', key: id, column: 'previousSecret', type: 'bytea' },
  { table: 'instances', key: id, column: 'credentials', type: 'bytea' },
  {
    table: 'cloud_departures',
    key: [
      { name: 'instanceId', type: 'uuid' },
      { name: 'businessAccountId', type: 'text' },
    ],
    column: 'accessToken',
    type: 'bytea',
  },
  { table: 'web_sessions', key: [{ name: 'instanceId', type: 'uuid' }], column: 'removal', type: 'bytea' },
  { table: 'web_removals', key: id, column: 'creds', type: 'bytea' },
  { table: 'web_creds', key: [{ name: 'instanceId', type: 'uuid' }], column: 'data', type: 'bytea' },
  {
    table: 'web_keys',
    key: [
      { name: 'instanceId', type: 'uuid' },
      { name: 'type', type: 'text' },
      { name: 'keyId', type: 'text' },
    ],
    column: 'data',
    type: 'bytea',
  },
  {
    table: 'messages',
    key: id,
    column: 'content',
    type: 'text',
    path: ['media', 'reference'],
    // The references of other networks hold no secret.
    where: `"instanceId" in (select id from instances where provider = 'web')`,
  },
  { table: 'mails', key: id, column: 'content', type: 'bytea' },
  {
    table: 'idempotency_keys',
    key: [
      { name: 'workspaceId', type: 'uuid' },
      { name: 'key', type: 'text' },
    ],
    column: 'result',
    type: 'bytea',
  },
]

/** A value as the database returns it: text, or bytes. */
export type Stored = string | Buffer

export interface SealedRow {
  id: string[]
  stored: Stored
}

export interface Replacement extends SealedRow {
  next: Stored
}

/** The value of a row, as SQL. */
const sealedValue = ({ column, path }: SealedColumn, prefix = '') =>
  path ? `${prefix}"${column}" #>> '{${path.join()}}'` : `${prefix}"${column}"`

const quoted = (names: readonly { name: string }[]) => names.map(({ name }) => `"${name}"`).join(', ')

/** The next rows with a value, after the row `after`. An erased secret is empty. */
export async function readSealed(
  sql: Sql,
  sealed: SealedColumn,
  after: readonly string[] | undefined,
  limit: number,
): Promise<SealedRow[]> {
  const { table, key, where = 'true' } = sealed
  const bounds = key.map(({ type }, n) => `$${n + 2}::${type}`).join(', ')
  const { rows } = await sql.query<SealedRow>(
    `select array[${key.map(({ name }) => `"${name}"::text`).join(', ')}] as id, ${sealedValue(sealed)} as stored from ${table}
     where octet_length(${sealedValue(sealed)}) > 0 and ${where} ${after ? `and (${quoted(key)}) > (${bounds})` : ''} order by ${quoted(key)} limit $1`,
    [limit, ...(after ?? [])],
  )
  return rows
}

/**
 * Stores each value whose row still has the value that was read; returns their number. The rows are locked in the order of their keys, as requests
 * lock Idempotency-Keys: texts by their bytes, whatever the locale of the database.
 */
export async function replaceSealed(sql: Sql, sealed: SealedColumn, rows: readonly Replacement[]): Promise<number> {
  const { table, key, column, type, path } = sealed
  const count = key.length
  const lists = [...key.map((part) => part.type), type, type].map((each, n) => `$${n + 1}::${each}[]`).join(', ')
  const same = key.map(({ name }) => `t."${name}" = u."${name}"`).join(' and ')
  const unchanged = `${sealedValue(sealed, 't.')} = u.stored`
  const order = key.map(({ name, type }) => `t."${name}"${type === 'text' ? ' collate "C"' : ''}`).join(', ')
  const next = path ? `jsonb_set(t."${column}", '{${path.join()}}', to_jsonb(u.next))` : 'u.next'
  const { rowCount } = await sql.query(
    `with u as materialized (
       select u.* from unnest(${lists}) as u(${quoted(key)}, stored, next)
       join ${table} t on ${same} and ${unchanged} order by ${order} for no key update of t)
     update ${table} t set "${column}" = ${next} from u where ${same} and ${unchanged}`,
    [
      ...Array.from({ length: count }, (_, n) => rows.map((row) => row.id[n])),
      rows.map((row) => row.stored),
      rows.map((row) => row.next),
    ],
  )
  return rowCount ?? 0
}
