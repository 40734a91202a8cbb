// bulk: 10,000 contacts added to a group and 10,000 deleted, from request to end of job, against one bare SQL statement each.
import { setTimeout as pause } from 'node:timers/promises'
import { newId } from '../../src/core/id.ts'
import type { Figures } from './accept.ts'
import { type Account, median, openStage, type Running, type Stage } from './stage.ts'

const count = 10_000
const rounds = 3

interface Round {
  contactIds: string[]
  groupId: string
}

export async function benchBulk(): Promise<Figures[]> {
  await using stage = await openStage(1)
  await using gateway = await stage.start('src/main.ts')
  const account = stage.accounts[0] as Account
  const seconds = { addBare: [] as number[], add: [] as number[], deleteBare: [] as number[], delete: [] as number[] }
  for (let i = 0; i <= rounds; i++) {
    const bare = await prepare(stage, account, i * 2)
    const full = await prepare(stage, account, i * 2 + 1)
    const took = {
      addBare: await timed(() => addBare(stage, bare)),
      add: await timed(() => byJob(gateway, account, `groups/${full.groupId}/members`, full.contactIds)),
      deleteBare: await timed(() => deleteBare(stage, bare)),
      delete: await timed(() => byJob(gateway, account, 'bulk-delete', full.contactIds)),
    }
    // The first round only warms up.
    if (i > 0) for (const name of Object.keys(took) as (keyof typeof took)[]) seconds[name].push(took[name])
  }
  return [
    figure(`${count} into a group`, median(seconds.addBare), median(seconds.add)),
    figure(`${count} deleted`, median(seconds.deleteBare), median(seconds.delete)),
  ]
}

function figure(name: string, baseline: number, gateway: number): Figures {
  return { name: `bulk: ${name}`, unit: 's', baseline, gateway, ratio: gateway / baseline, target: '≤ 2 s' }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}

/** Creates new contacts, and a group without members. */
async function prepare({ pool }: Stage, { workspaceId }: Account, n: number): Promise<Round> {
  const contactIds = Array.from({ length: count }, newId)
  await pool.query(
    `insert into contacts (id, "workspaceId", name, phone, tags)
     select id, $2, 'Contact ' || i, '+49' || (1000000000 + $3::int * 10000 + i), '{}' from unnest($1::uuid[]) with ordinality as u(id, i)`,
    [contactIds, workspaceId, n],
  )
  const groupId = newId()
  await pool.query('insert into contact_groups (id, "workspaceId", name) values ($1, $2, $3)', [
    groupId,
    workspaceId,
    `Group ${n}`,
  ])
  return { contactIds, groupId }
}

async function addBare({ pool }: Stage, { contactIds, groupId }: Round): Promise<void> {
  await pool.query('insert into contact_group_members ("groupId", "contactId") select $1, unnest($2::uuid[])', [
    groupId,
    contactIds,
  ])
}

async function deleteBare({ pool }: Stage, { contactIds }: Round): Promise<void> {
  await pool.query('delete from contacts where id = any($1::uuid[])', [contactIds])
}

/** Requests the change over REST and polls its progress until it is done. */
async function byJob(gateway: Running, { apiKey }: Account, path: string, contactIds: readonly string[]): Promise<void> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const base = `${gateway.url}/api/v1/contacts`
  const response = await fetch(`${base}/${path}`, { method: 'POST', headers, body: JSON.stringify({ contactIds }) })
  const { jobId } = ((await response.json()) as { data: { jobId: string } }).data
  for (;;) {
    const answer = await fetch(`${base}/bulk-jobs/${jobId}/progress`, { headers })
    const { status, processedCount } = ((await answer.json()) as { data: { status: string; processedCount: number } }).data
    if (status === 'done' && processedCount === count) return
    if (status === 'failed') throw new Error('the job failed')
    await pause(20)
  }
}
