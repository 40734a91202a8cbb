// Poison jobs: jobs that no version understands, that always throw, or that block the event loop. Each is tried as often as its
// limit allows and then becomes a dead letter that operators can see; other jobs are done as if it were not there.
import { beforeAll, describe, expect, it } from 'vitest'
import { addContacts, addGroup, watchJob } from '../contacts/bulk-rig.ts'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { allowed, measuredAgain, playedAhead } from '../kit/measured.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { deadOf, good, notesOf, openScene, p99, surviveThrowing } from './poison-rig.ts'
import { mixedJob, onceJob } from './poison-worker.ts'
import { openStage, sendAll, text } from './rig.ts'

/** Scenes that take long. They run concurrently, and while other tests run. */
const begun = {} as {
  takenOver: Awaited<ReturnType<typeof beginTakenOver>>
  givenUp: Awaited<ReturnType<typeof beginGivenUp>>
  cursed: Awaited<ReturnType<typeof playCursed>>
}

beforeAll(async () => {
  const [takenOver, givenUp, cursed] = await Promise.all([beginTakenOver(), beginGivenUp(), playCursed()])
  Object.assign(begun, { takenOver, givenUp, cursed })
})

describe('a job that always throws', () => {
  it('is tried three times and becomes a dead letter, while the other jobs of its batches are done', async () => {
    const scene = await openScene()
    await scene.startWorker()
    await surviveThrowing(scene, 100, 50)
  })

  it('makes a bulk job fail after six tries, while another one of the same workspace is done', () => {
    const { fine, outcome, dead } = begun.cursed
    expect(fine).toMatchObject({ status: 'done', summary: { added: 600 } })
    expect(outcome.map(({ status, error, processedCount }) => [status, error, processedCount])).toEqual([
      ['pending', null, 0],
      ['failed', 'INTERNAL_ERROR', 0],
    ])
    expect(dead).toEqual([{ queue: 'contact.bulk', tries: 6, why: { error: 'cursed' } }])
  })
})

async function playCursed() {
  const { databaseUrl, account, open } = await openStage()
  const client = api(await open(), account.apiKey)
  const { workspaceId } = account
  const [cursed, blessed] = [await addGroup(databaseUrl, workspaceId), await addGroup(databaseUrl, workspaceId)]
  await sql(databaseUrl).query(`
    create function curse() returns trigger language plpgsql as $$ begin raise exception 'cursed'; end $$;
    create trigger curse before insert on contact_group_members for each row when (new."groupId" = '${cursed}') execute function curse()`)
  const contactIds = await addContacts(databaseUrl, workspaceId, 600)
  const add = async (groupId: string) =>
    (await client.post(`contacts/groups/${groupId}/members`, { contactIds })).body.data.jobId as string
  const doomed = await add(cursed)
  const fine = (await watchJob(client, await add(blessed), 60_000)).at(-1)
  // The test is about the number of tries, so it skips the waits between them.
  const now = `update pgboss.job set start_after = now() where name = 'contact.bulk' and state = 'retry'`
  const hurry = setInterval(() => void sql(databaseUrl).query(now), 100)
  const outcome = await watchJob(client, doomed, 120_000).finally(() => clearInterval(hurry))
  await expectInvariants(databaseUrl)
  return { fine, outcome, dead: await deadOf(databaseUrl) }
}

it('makes unreadable jobs dead letters at once, shows them in log, metrics and doctor, and sends all messages', async () => {
  const stage = await openStage()
  const gateway = await stage.open()
  const app = await openApp(stage.databaseUrl)
  const queues = ['message.dispatch', 'webhook.deliver', 'contact.bulk']
  const bodies = () => Array.from({ length: 250 }, () => text(stage.sure))
  const ids = await sendAll(stage.account, () => gateway, bodies())
  for (const queue of queues) {
    for (const data of [{}, { nonsense: 1 }, null]) await app.boss.insert(queue, [{ data: data as never, priority: 10 }])
  }
  ids.push(...(await sendAll(stage.account, () => gateway, bodies())))
  const dead = await until(async () => {
    const found = await deadOf(stage.databaseUrl)
    return found.length === 9 && found
  })
  for (const { tries, why } of dead) expect([tries, why]).toEqual([1, { error: 'unreadable' }])
  await gateway.line(/"queue":"message.dispatch".*a job failed permanently/)
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
  for (const queue of queues) expect(metrics).toContain(`gateway_dead_jobs{queue="${queue}"} 3`)
  const { stdout, code } = await command(['doctor'], { databaseUrl: stage.databaseUrl })
  expect([code, stdout]).toEqual([0, expect.stringContaining('3 of contact.bulk, 3 of message.dispatch, 3 of webhook.deliver')])
  await expectInvariants(stage.databaseUrl, { acknowledged: ids, messages: ids.length })
})

// These tests come last, because their scenes take long and run while the other tests do.
describe('a job that blocks the event loop for 30 s', () => {
  const begin = playedAhead(() => begun.takenOver, beginTakenOver)

  // Played and measured again when other load keeps this machine too busy.
  it(
    'is taken over by another node within 15 s, while other jobs are served there within 1 s (99th percentile)',
    measuredAgain,
    async () => {
      const { first, second, done, tries, end, dead } = await (await begin())()
      expect(new Set(done.map(({ pid }) => pid))).toEqual(new Set([second]))
      expect(p99(done.map(({ afterMs }) => afterMs))).toBeLessThan(allowed(1_000))
      expect(tries.map(({ pid }) => pid)).toEqual([first, second])
      const takenOverAfterMs = tries[1]?.afterMs as number
      console.log(`F18: taken over after ${takenOverAfterMs / 1000} s`)
      expect(takenOverAfterMs).toBeLessThan(allowed(15_000))
      expect([end, dead]).toEqual([[{ state: 'completed', retry_count: 1 }], []])
    },
  )

  it('is made a dead letter by another node when it may not be tried again', async () => {
    const { first, second, notes, dead } = await begun.givenUp()
    expect(notes.map(({ pid }) => pid)).toEqual([second])
    expect(first).not.toBe(second)
    expect(dead).toEqual([{ queue: 'test.once', tries: 1, why: { value: { message: 'job heartbeat timeout' } } }])
  })
})

/** One node gets a blocking job, and a second node gets steady other jobs; returns a function that reports how it ended. */
async function beginTakenOver() {
  const scene = await openScene()
  const first = await scene.startWorker()
  const [blocker] = (await scene.add(mixedJob, ['blocks once'])) as [string]
  const isNoted = async (what: string, n: number) => (await notesOf(scene, [blocker], what)).length === n
  const noted = (what: string, n: number) => until(() => isNoted(what, n), { timeoutMs: 60_000 })
  await noted('tried', 1)
  const second = await scene.startWorker()
  // The other jobs end before the first node wakes, so that none is left for it.
  const neighbours: string[] = []
  await until(async () => {
    neighbours.push(...(await scene.add(mixedJob, good(10), 25)))
    return await isNoted('done', 1)
  })
  await until(async () => (await notesOf(scene, neighbours, 'done')).length === neighbours.length)
  return async () => {
    // When the first node wakes, it finds that the job is no longer its own.
    await noted('done', 2)
    const { rows: end } = await sql(scene.databaseUrl).query(
      `select state, retry_count from pgboss.job where name = 'test.mixed' and data->>'id' = $1`,
      [blocker],
    )
    return {
      first: first.pid,
      second: second.pid,
      done: await notesOf(scene, neighbours, 'done'),
      tries: await notesOf(scene, [blocker], 'tried'),
      end,
      dead: await deadOf(scene.databaseUrl),
    }
  }
}

async function beginGivenUp() {
  const scene = await openScene()
  const first = await scene.startWorker()
  const [blocker] = (await scene.add(onceJob, ['blocks'])) as [string]
  await until(async () => (await notesOf(scene, [blocker], 'tried')).length === 1)
  const second = await scene.startWorker()
  return async () => {
    await until(async () => (await notesOf(scene, [blocker], 'given up')).length > 0, { timeoutMs: 60_000 })
    const notes = await notesOf(scene, [blocker], 'given up')
    return { first: first.pid, second: second.pid, notes, dead: await deadOf(scene.databaseUrl) }
  }
}
