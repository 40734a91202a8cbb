// SQL of imports: the pieces of their files, and chunks of contacts in one statement each.
import type { Sql } from '../../core/database/database.ts'
import type { Contact } from '../../generated/prisma/client.ts'
import type { ImportSummary } from '../bulk/service.ts'
import type { StoredNames } from '../names.ts'
import type { ImportOptions } from './input.ts'

/** How many imports of the workspace have not ended (index bulk_jobs_open_idx). Exact under the lock of new jobs. */
export async function countOpenImports(tx: Sql, workspaceId: string): Promise<number> {
  const { rows } = await tx.query<{ n: number }>(
    `select count(*)::int as n from bulk_jobs where "workspaceId" = $1 and "completedAt" is null and operation = 'import_contacts'`,
    [workspaceId],
  )
  return rows[0]?.n ?? 0
}

export async function insertPiece(tx: Sql, jobId: string, n: number, bytes: Buffer): Promise<void> {
  await tx.query('insert into import_pieces ("jobId", n, bytes) values ($1, $2, $3)', [jobId, n, bytes])
}

export async function readPiece(sql: Sql, jobId: string, n: number): Promise<Buffer | undefined> {
  const { rows } = await sql.query<{ bytes: Buffer }>('select bytes from import_pieces where "jobId" = $1 and n = $2', [jobId, n])
  return rows[0]?.bytes
}

export interface OpenImport {
  workspaceId: string
  groupId: string | null
  requestedCount: number
  processedCount: number
  summary: ImportSummary
}

/** An import that has not ended; undefined for any other job. */
export async function readImport(
  sql: Sql,
  id: string,
): Promise<(Pick<OpenImport, 'requestedCount' | 'processedCount'> & { options: ImportOptions }) | undefined> {
  const { rows } = await sql.query<{ requestedCount: number; processedCount: number; options: ImportOptions }>(
    `select "requestedCount", "processedCount", options from bulk_jobs
     where id = $1 and operation = 'import_contacts' and status in ('pending', 'processing')`,
    [id],
  )
  return rows[0]
}

/** Locks an import that has not ended. Relies on the turn that the caller has taken. */
export async function lockImport(tx: Sql, id: string): Promise<OpenImport | undefined> {
  const { rows } = await tx.query<OpenImport>(
    `select "workspaceId", "groupId", "requestedCount", "processedCount", summary from bulk_jobs
     where id = $1 and status in ('pending', 'processing') for update`,
    [id],
  )
  return rows[0]
}

/** Stores how many lines the file has, and the faults of the file as a whole. Relies on the row lock of {@link lockImport}. */
export async function saveCount(tx: Sql, id: string, requestedCount: number, summary: ImportSummary): Promise<void> {
  await tx.query(
    `update bulk_jobs set status = 'processing', "requestedCount" = $2, summary = $3, "updatedAt" = now() where id = $1`,
    [id, requestedCount, summary],
  )
}

/** The columns of a contact that an import writes. */
export type ImportedRow = StoredNames & Pick<Contact, 'id' | 'phone' | 'email' | 'tags' | 'custom'>

const columns = 'id, name, "firstName", "lastName", "givenFirstName", "givenLastName", phone, email, tags, custom'
const record = `r(id uuid, name text, "firstName" text, "lastName" text, "givenFirstName" boolean, "givenLastName" boolean, phone text,
  email text, tags text[], custom jsonb)`

/** The contacts with these numbers, locked against change and deletion in the order of their ids. */
export async function lockByPhone(tx: Sql, workspaceId: string, phones: readonly string[]): Promise<ImportedRow[]> {
  const { rows } = await tx.query<ImportedRow>(
    `select ${columns} from contacts where "workspaceId" = $1 and phone = any($2::text[]) order by id for no key update`,
    [workspaceId, phones],
  )
  return rows
}

/** Inserts contacts in the order of their numbers, and returns the ids of those whose number nobody has. */
export async function insertContacts(tx: Sql, workspaceId: string, contacts: readonly ImportedRow[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `insert into contacts ("workspaceId", ${columns}, "updatedAt")
     select $1, ${columns}, now() from jsonb_to_recordset($2) as ${record} order by phone
     on conflict ("workspaceId", phone) do nothing returning id`,
    [workspaceId, JSON.stringify(contacts)],
  )
  return rows.map(({ id }) => id)
}

/** Relies on the locks of {@link lockByPhone}. */
export async function updateContacts(tx: Sql, contacts: readonly ImportedRow[]): Promise<void> {
  await tx.query(
    `update contacts c set name = r.name, "firstName" = r."firstName", "lastName" = r."lastName", "givenFirstName" = r."givenFirstName",
       "givenLastName" = r."givenLastName", email = r.email, tags = r.tags,
       custom = r.custom, "updatedAt" = now()
     from jsonb_to_recordset($1) as ${record} where c.id = r.id`,
    [JSON.stringify(contacts)],
  )
}
