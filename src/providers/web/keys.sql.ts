// SQL of the credentials and Signal keys of paired devices. Every write is one statement that also checks the lease (fencing token).
import type { Sql } from '../../core/database/database.ts'
import { type Lease, LeaseLost } from './leases.sql.ts'

const held = `held as (select 1 from instance_leases where "instanceId" = $1 and node = $2 and token = $3 for share)`

export async function readCreds(sql: Sql, instanceId: string): Promise<Buffer | undefined> {
  const text = 'select data from web_creds where "instanceId" = $1'
  const { rows } = await sql.query<{ data: Buffer }>({ name: 'web.creds.read', text, values: [instanceId] })
  return rows[0]?.data
}

/** @throws LeaseLost when another holder has the connection; then nothing is written. */
export async function writeCreds(sql: Sql, { instanceId, node, token }: Lease, data: Buffer): Promise<void> {
  const { rowCount } = await sql.query({
    name: 'web.creds.write',
    text: `with ${held}
      insert into web_creds ("instanceId", data) select $1, $4 from held on conflict ("instanceId") do update set data = excluded.data`,
    values: [instanceId, node, token, data],
  })
  if (!rowCount) throw new LeaseLost()
}

export interface KeyRow {
  type: string
  keyId: string
  /** Sealed; null deletes the key. */
  data: Buffer | null
}

export async function readKeys(sql: Sql, instanceId: string, type: string, ids: readonly string[]): Promise<Map<string, Buffer>> {
  const { rows } = await sql.query<{ keyId: string; data: Buffer }>({
    name: 'web.keys.read',
    text: 'select "keyId", data from web_keys where "instanceId" = $1 and type = $2 and "keyId" = any($3::text[])',
    values: [instanceId, type, ids],
  })
  return new Map(rows.map(({ keyId, data }) => [keyId, data]))
}

/** Writes one Signal transaction: all of it or nothing. @throws LeaseLost when another holder has the connection. */
export async function writeKeys(sql: Sql, { instanceId, node, token }: Lease, rows: readonly KeyRow[]): Promise<void> {
  const kept = rows.filter(({ data }) => data)
  const dropped = rows.filter(({ data }) => !data)
  const answer = await sql.query<{ held: number }>({
    name: 'web.keys.write',
    text: `with ${held}, kept as (
        insert into web_keys ("instanceId", type, "keyId", data)
          select $1, u.type, u.id, u.data from unnest($4::text[], $5::text[], $6::bytea[]) as u(type, id, data) where exists (select 1 from held)
          on conflict ("instanceId", type, "keyId") do update set data = excluded.data
      ), dropped as (
        delete from web_keys k using unnest($7::text[], $8::text[]) as u(type, id)
          where k."instanceId" = $1 and k.type = u.type and k."keyId" = u.id and exists (select 1 from held)
      ) select count(*)::int as held from held`,
    values: [
      instanceId,
      node,
      token,
      kept.map(({ type }) => type),
      kept.map(({ keyId }) => keyId),
      kept.map(({ data }) => data),
      dropped.map(({ type }) => type),
      dropped.map(({ keyId }) => keyId),
    ],
  })
  if (!answer.rows[0]?.held) throw new LeaseLost()
}

/** Deletes everything that pairing made. */
export async function deleteLogin(tx: Sql, instanceId: string): Promise<void> {
  await tx.query('delete from web_creds where "instanceId" = $1', [instanceId])
  await tx.query('delete from web_keys where "instanceId" = $1', [instanceId])
}
