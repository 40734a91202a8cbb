// Load through Meta's Cloud API while one of two gateways dies at a random failpoint, is killed, frozen or stopped, and while Meta loses
// answers and reports in any order. `CHAOS_SEED=n` runs that course alone.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFailed } from 'vitest'
import { pickFrom, seeded, startLoad } from '../faults/rig.ts'
import { sql } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { atRest, expectInvariants } from '../kit/invariants.ts'
import { failSends, reportStatuses } from './chaos-rig.ts'
import { openStage } from './kill-rig.ts'
import { rigOf } from './rig.ts'

const only = process.env.CHAOS_SEED
const seeds = only ? [Number(only)] : [1, 2, 3]

const failpoints = [
  'send.after_claim',
  'send.before_provider',
  'send.after_provider_accept',
  'send.before_commit',
  'send.after_commit_before_ack',
]
const others = ['kill', 'freeze', 'stop'] as const
const recipients = 60

it.each(seeds)(
  'loses no message, sends none twice, and keeps their order, whatever dies and gets lost (seed %i)',
  async (seed) => {
    const random = seeded(seed)
    const { databaseUrl, standIn, account, env } = await openStage()
    const start = (more: Record<string, string> = {}) =>
      startGateway({ databaseUrl, env: { ...env, CLOUD_RECONCILE_SECONDS: '8', RATE_LIMIT_PER_SECOND: '100000', ...more } })
    const nodes = [await start(), await start()]
    const course: string[] = []
    onTestFailed(() => console.error(`CHAOS_SEED=${seed}: ${course.join(', ')}`))
    const { id: instanceId, number } = await rigOf(databaseUrl, standIn, nodes[0] as Gateway, account).phone()
    const pick = () => pickFrom(nodes, random)
    const statuses = reportStatuses(standIn, number, () => `${pick().url}/providers/cloud/${instanceId}`, random)
    const failing = new AbortController()
    const failed = failSends(standIn, random, failing.signal)
    const next = () => ({
      instanceId,
      to: `+39333${4_000_000 + Math.floor(recipients * random())}`,
      type: 'text',
      text: 'hello',
    })
    const load = startLoad(account, pick, next, 6, 250)

    const blows = [...failpoints, ...others].sort(() => random() - 0.5)
    for (const blow of blows) {
      await pause(300 + 1_500 * random())
      const which = random() < 0.5 ? 0 : 1
      const node = nodes[which] as Gateway
      if (blow === 'freeze') {
        node.kill('SIGSTOP')
        await pause(10_000 * random())
        node.kill('SIGCONT')
        course.push(`freeze ${which}`)
        continue
      }
      if (blow !== 'kill' && blow !== 'stop') {
        // One more process, which dies when it comes to that place, perhaps before it serves. The other two stay.
        const place = `${blow}:${1 + Math.floor(2 * random())}`
        const doomed = await start({ FAILPOINT: `${place}=kill`, ROLES: 'http,worker' }).catch(() => undefined)
        const dead = !doomed || (await Promise.race([doomed.exited, pause(10_000, undefined)]))
        if (!dead) doomed?.kill('SIGKILL')
        await doomed?.exited
        course.push(`${dead ? '' : 'not '}${place}`)
        continue
      }
      node.kill(blow === 'kill' ? 'SIGKILL' : 'SIGTERM')
      await node.exited
      nodes[which] = await start()
      course.push(`${blow} ${which}`)
    }
    await load.stop()
    failing.abort()
    await failed
    const { acknowledged } = load
    await atRest(databaseUrl, 180_000)
    await statuses.told()
    await expectInvariants(databaseUrl, { acknowledged, messages: acknowledged.length })

    const taken = Map.groupBy(standIn.messages, (message) => message.biz_opaque_callback_data as string)
    expect([...taken.values()].filter((list) => list.length > 1)).toEqual([])
    const { rows } = await sql(databaseUrl).query<{ id: string; to: string; status: string; error: string | null }>(
      'select id, "to", status, error from messages order by "createdAt", id',
    )
    const wrong = rows.filter(({ id, status, error }) => {
      if (taken.has(id)) return status !== statuses.ends.get(id)
      // An answer that never came, or a process that died before the call: the outcome is unknown.
      return status !== 'failed' || (error !== 'UNKNOWN_OUTCOME' && error !== 'PROVIDER_ERROR')
    })
    expect(wrong).toEqual([])
    const order = rows.filter(({ id }) => taken.has(id))
    for (const [to, list] of Map.groupBy(order, (row) => row.to)) {
      const sent = standIn.messages
        .filter((message) => `+${message.to}` === to)
        .map((message) => message.biz_opaque_callback_data)
      expect(sent).toEqual(list.map(({ id }) => id))
    }
    const unknown = rows.filter(({ error }) => error === 'UNKNOWN_OUTCOME').length
    console.log(`cloud chaos seed ${seed}: ${rows.length} messages, ${unknown} of unknown outcome, ${course.join(', ')}`)
  },
  600_000,
)
