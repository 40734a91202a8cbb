// The admission query for signed-in people uses indexes in a large database.
import { expect, it } from 'vitest'
import { statement } from '../../src/billing/admission/admit-session.sql.ts'
import { cloneDatabase, sql } from '../kit/database.ts'

it("finds each workspace by an index among 100,000, for requests to a person's and to a team's workspace", async () => {
  const pool = sql(await cloneDatabase())
  await pool.query(
    `insert into users (id, email, name) select gen_random_uuid(), n || '@example.com', 'Many' from generate_series(1, 100000) n;
     insert into workspaces (id, "ownerId") select gen_random_uuid(), id from users;
     with made as (
       insert into workspaces (id, "ownerId") select gen_random_uuid(), id from (select id from users limit 2000) u returning id, "ownerId"
     ), teams as (
       insert into teams (id, "workspaceId", "ownerId", name) select gen_random_uuid(), id, "ownerId", 'Team' from made returning id, "ownerId"
     )
     insert into team_members ("teamId", "userId", role) select id, "ownerId", 'owner' from teams;
     insert into auth_sessions (id, token, "userId", "expiresAt")
     select gen_random_uuid(), gen_random_uuid()::text, "ownerId", now() + interval '1 day' from teams;
     analyze users, workspaces, teams, team_members, auth_sessions`,
  )
  const { rows } = await pool.query<{ id: string; userId: string; teamId: string | null }>(
    `select s.id, s."userId", t.id as "teamId" from auth_sessions s join teams t on t."ownerId" = s."userId" limit 200`,
  )
  const requests = rows.flatMap((row) => [row, { ...row, teamId: null }])
  for (const asked of [requests.slice(0, 2), requests]) {
    const values = [asked.map(({ id }) => id), asked.map(({ userId }) => userId), asked.map(({ teamId }) => teamId)]
    const lists = values.map((list) => `'{${list.map((id) => id ?? 'null').join()}}'`)
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const client = await pool.connect()
      await client.query(`set plan_cache_mode = ${mode}; prepare admit as ${statement}`)
      const plan = await client.query<{ 'QUERY PLAN': string }>(
        `explain execute admit (${lists.join()}, 50, 10, '{${asked.map(() => true).join()}}')`,
      )
      await client.query('reset plan_cache_mode; deallocate admit')
      client.release()
      const lines = plan.rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(lines).not.toContain('Seq Scan on workspaces')
      expect(lines).toMatch(/Index (Only )?Scan using workspaces_pkey/)
    }
  }
})
