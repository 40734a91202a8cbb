// Creating a campaign in a transaction that PostgreSQL ends and that runs again: the second try knows nothing of the first one.
import { expect, it } from 'vitest'
import { createCampaign } from '../../src/campaigns/create.ts'
import { newId } from '../../src/core/id.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { openWorkspace } from '../messages/rig.ts'

const lock = 4711

/** The first insert of a campaign waits for the lock, and then fails as after a deadlock. */
const conflictOnce = `
  create sequence tries;
  create function conflict_once() returns trigger language plpgsql as $$ begin
    if nextval('tries') = 1 then
      perform pg_advisory_xact_lock(${lock});
      raise exception 'conflict' using errcode = 'serialization_failure';
    end if;
    return new;
  end $$;
  create trigger conflict_once before insert on campaigns for each row execute function conflict_once();`

it('has the recipients of the second try: a member who was deleted before it gets nothing, a number that was given does', async () => {
  const databaseUrl = await cloneDatabase()
  const { ctx, instanceId } = await openWorkspace(databaseUrl)
  const pool = sql(databaseUrl)
  const [ada, bob, eve] = [newId(), newId(), newId()]
  const phones = ['+4930100001', '+4930100002', '+4930100003']
  await pool.query(
    `insert into contacts (id, "workspaceId", name, phone, tags, custom)
     select u.id, $1, 'Ada', u.phone, '{}', '{}' from unnest($2::uuid[], $3::text[]) as u(id, phone)`,
    [ctx.principal.workspaceId, [ada, bob, eve], phones],
  )
  const groupId = newId()
  await pool.query(`insert into contact_groups (id, "workspaceId", name) values ($1, $2, 'All')`, [
    groupId,
    ctx.principal.workspaceId,
  ])
  await pool.query('insert into contact_group_members ("groupId", "contactId") select $1, unnest($2::uuid[])', [
    groupId,
    [ada, bob, eve],
  ])
  await pool.query(conflictOnce)
  const input = { instanceId, name: 'News', type: 'text', text: 'hello', recipients: [{ to: phones[0] }], groupIds: [groupId] }
  const [campaign] = await whileHeld(
    databaseUrl,
    [`select pg_advisory_xact_lock(${lock})`],
    [() => createCampaign(ctx, input)],
    ['delete from contacts where id = any($1::uuid[])', [ada, bob]],
  )
  expect((await pool.query('select last_value::int as n from tries')).rows).toEqual([{ n: 2 }])
  const { rows } = await pool.query('select "to", "contactId" from campaign_recipients order by position')
  expect([campaign?.recipientsCount, rows]).toEqual([
    2,
    [
      { to: phones[0], contactId: null },
      { to: phones[2], contactId: eve },
    ],
  ])
})
