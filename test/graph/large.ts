// Fills a workspace with rows of the maximum size: contacts in up to 1,000 groups, with all custom fields, and long messages.
import { sql } from '../kit/database.ts'
import type { Rig } from '../rest-compat/rig.ts'

/** Returns the ids of contacts by the number of groups that they are in: 300, 800 or 1,000. */
export async function fillLarge(rig: Rig): Promise<Record<number, string>> {
  const inGroups: Record<number, string> = {}
  const { account, instance } = rig.tenant
  const { workspaceId, userId } = account
  const pool = sql(rig.databaseUrl)
  await pool.query(
    `insert into contact_groups (id, "workspaceId", name, "membersCount")
     select gen_random_uuid(), $1, 'Group ' || lpad(i::text, 4, '0'), 8 from generate_series(1, 1000) i`,
    [workspaceId],
  )
  // A hundred contacts of the maximum size, seven of which are then added to groups.
  await pool.query(
    `insert into contacts (id, "workspaceId", name, phone, tags, custom, "createdAt")
     select gen_random_uuid(), $1, 'Contact ' || i, '+3933310' || (10000 + i), '{}',
       (select jsonb_object_agg('k' || j, repeat('😀', 1024)) from generate_series(1, 50) j), now() - i * interval '1 second'
     from generate_series(1, 100) i`,
    [workspaceId],
  )
  for (const [i, count] of [300, 800, 800, 800, 800, 800, 1000].entries()) {
    const { rows } = await pool.query<{ id: string }>(
      `insert into contact_group_members ("groupId", "contactId")
       select g.id, c.id from contacts c, (select id from contact_groups where "workspaceId" = $1 order by name limit $2) g
       where c."workspaceId" = $1 and c.name = $3 returning "contactId" as id`,
      [workspaceId, count, `Contact ${i + 1}`],
    )
    inGroups[count] = rows[0]?.id as string
  }
  await pool.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "to", peer, body, status, safety, "createdAt")
     select gen_random_uuid(), $1, $2, $3, c.id, 'text', c.phone, c.phone, repeat('😀', 4096), 'read',
       '{"decision":"allow","riskLevel":"low","state":"stable","score":100}', now() - n * interval '1 minute'
     from contacts c, generate_series(1, 20) n where c."workspaceId" = $1`,
    [workspaceId, userId, instance.id],
  )
  return inGroups
}
