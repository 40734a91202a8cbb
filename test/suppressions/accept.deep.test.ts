// 1,000,000 numbers in a workspace's do-not-contact list cost its sends nothing that shows.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openStage, sendAll, text } from '../faults/rig.ts'
import { sql } from '../kit/database.ts'
import { measuredAgain } from '../kit/measured.ts'

const rounds = 40
const bulk = 500

/** Processor time of the gateway and of its connections' backends, in milliseconds: other load on the machine does not count. */
async function processorMs(databaseUrl: string, gateway: number): Promise<number> {
  const { rows } = await sql(databaseUrl).query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'gateway'`,
  )
  const ticks = [gateway, ...rows.map(({ pid }) => pid)].map((pid) => {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
      .slice(11, 13)
    return Number(user) + Number(system)
  })
  return 10 * ticks.reduce((sum, n) => sum + n, 0)
}

it('1,000,000 suppressed numbers add at most 5 % to the acceptance of messages', {
  ...measuredAgain,
  timeout: 600_000,
}, async () => {
  const long = await openStage()
  const { databaseUrl } = long
  const short = await openStage(databaseUrl)
  await sql(databaseUrl).query(
    `insert into suppressions (id, "workspaceId", phone, reason)
     select gen_random_uuid(), $1, '+4915' || 1000000 + n, 'manual' from generate_series(1, 1000000) n`,
    [long.account.workspaceId],
  )
  await sql(databaseUrl).query('vacuum analyze suppressions')
  // Without a worker: nothing else runs while messages are accepted.
  const gateway = await long.start({ ROLES: 'http' })
  const times = new Map([long, short].map((stage) => [stage, [] as number[]]))
  for (let round = 0; round <= rounds; round++) {
    for (const [{ account, sure }, own] of times) {
      const bodies = Array.from({ length: bulk }, () => text(sure))
      const before = await processorMs(databaseUrl, gateway.pid)
      await sendAll(account, () => gateway, bodies)
      // The first rounds plan the statements.
      if (round > 5) own.push((await processorMs(databaseUrl, gateway.pid)) - before)
    }
  }
  const [withMany, withNone] = [...times.values()].map((own) => own.reduce((sum, ms) => sum + ms, 0) / own.length) as [
    number,
    number,
  ]
  console.log(
    `${bulk} messages take ${withMany.toFixed(0)} ms of processor time with 1,000,000 suppressions, ${withNone.toFixed(0)} ms with none`,
  )
  expect(withMany / withNone).toBeLessThan(1.05)
})
