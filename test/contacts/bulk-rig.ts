// Rig of the bulk job tests: contacts by the thousand, groups with members, and a job watched to its end.
import { newId } from '../../src/core/id.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'

let numbers = 0

/** Inserts contacts straight into the table and returns their ids in ascending order. */
export async function addContacts(databaseUrl: string, workspaceId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, newId)
  await sql(databaseUrl).query(
    `insert into contacts (id, "workspaceId", name, phone, tags)
     select id, $2, 'Contact ' || n, '+4930' || ($3::int + n), '{}' from unnest($1::uuid[]) with ordinality as u(id, n)`,
    [ids, workspaceId, 1_000_000 + numbers],
  )
  numbers += count
  return ids
}

/** Ids that belong to no contact. */
export function strangers(count: number): string[] {
  return Array.from({ length: count }, newId)
}

/** Creates a group with these members and a matching counter. */
export async function addGroup(databaseUrl: string, workspaceId: string, members: readonly string[] = []): Promise<string> {
  const id = newId()
  await sql(databaseUrl).query('insert into contact_groups (id, "workspaceId", name, "membersCount") values ($1, $2, $3, $4)', [
    id,
    workspaceId,
    `Group ${id}`,
    members.length,
  ])
  await sql(databaseUrl).query('insert into contact_group_members ("groupId", "contactId") select $1, unnest($2::uuid[])', [
    id,
    members,
  ])
  return id
}

/** The number of members of a group, by its rows and by its counter. */
export async function membersOf(databaseUrl: string, groupId: string): Promise<{ rows: number; counter: number }> {
  const { rows } = await sql(databaseUrl).query<{ rows: number; counter: number }>(
    `select "membersCount" as counter, (select count(*)::int from contact_group_members where "groupId" = id) as rows
     from contact_groups where id = $1`,
    [groupId],
  )
  return rows[0] as { rows: number; counter: number }
}

export interface Job {
  id: string
  operation: string
  status: 'pending' | 'processing' | 'done' | 'failed' | 'cancelled'
  requestedCount: number
  processedCount: number
  progress: number
  groupId?: string
  summary: Record<string, number>
  error: string | null
  createdAt: string
  updatedAt: string
  completedAt: string | null
}

/** Polls the progress until the job has ended; returns every distinct record that it saw. */
export async function watchJob(api: Api, jobId: string, timeoutMs = 30_000): Promise<Job[]> {
  const outcome: Job[] = []
  await until(
    async () => {
      const { status, body } = await api.get(`contacts/bulk-jobs/${jobId}/progress`)
      if (status !== 200) throw new Error(JSON.stringify(body))
      const job = body.data as Job
      if (JSON.stringify(outcome.at(-1)) !== JSON.stringify(job)) outcome.push(job)
      return ['done', 'failed', 'cancelled'].includes(job.status)
    },
    { timeoutMs },
  )
  return outcome
}
