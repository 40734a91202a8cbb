// Imports of 100,000 lines: their time and memory, and a worker that is killed in the middle of a chunk.
import { expect, it } from 'vitest'
import { watchJob } from '../contacts/bulk-rig.ts'
import { postImport } from '../contacts/import-rig.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { measuredAgain } from '../kit/measured.ts'
import { residentBytes } from '../kit/resident.ts'
import { openStage } from './rig.ts'

const mib = 1024 ** 2

function csvOf(lines: number): string {
  const rows = Array.from(
    { length: lines },
    (_, i) => `Person ${i},+4915${100_000_000 + i},p${i}@example.com,"vip,${i % 10}",City ${i % 100}\n`,
  )
  return `name,phone,email,tags,custom.city\n${rows.join('')}`
}

it('imports 100,000 lines within 60 s and 150 MiB', { ...measuredAgain, timeout: 300_000 }, async () => {
  const { databaseUrl, account, start } = await openStage()
  const gateway = await start()
  const client = api(gateway, account.apiKey)
  await client.get('usage')
  const idle = residentBytes(gateway.pid)
  const begun = performance.now()
  const { status, body } = await postImport(gateway, account.apiKey, csvOf(100_000))
  expect(status).toBe(202)
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(gateway.pid) - idle)
  }, 100)
  const states = await watchJob(client, body.data.jobId, 240_000)
  clearInterval(timer)
  const seconds = (performance.now() - begun) / 1000
  console.log(`import of 100,000 lines: ${seconds.toFixed(1)} s, ${Math.round(peak / mib)} MiB above idle`)
  expect(states.at(-1)).toMatchObject({ status: 'done', processedCount: 100_000, summary: { created: 100_000, invalid: [] } })
  expect(seconds).toBeLessThan(60)
  expect(peak / mib).toBeLessThan(150)
  await expectInvariants(databaseUrl)
})

it('resumes after its last committed chunk when its worker was killed, and creates each contact once', {
  timeout: 120_000,
}, async () => {
  const { databaseUrl, account, start } = await openStage()
  const doomed = await start({ FAILPOINT: 'import.mid_chunk:4=kill' })
  const { body } = await postImport(doomed, account.apiKey, csvOf(5_000))
  expect((await doomed.exited).signal).toBe('SIGKILL')
  const { rows } = await sql(databaseUrl).query(
    'select "processedCount" as n, (select count(*)::int from contacts) as contacts from bulk_jobs',
  )
  expect(rows).toEqual([{ n: 1_500, contacts: 1_500 }])
  const heir = await start()
  const job = (await watchJob(api(heir, account.apiKey), body.data.jobId, 60_000)).at(-1)
  expect(job).toMatchObject({
    status: 'done',
    processedCount: 5_000,
    summary: { created: 5_000, updated: 0, skipped: 0, invalid: [] },
  })
  expect((await sql(databaseUrl).query('select from import_pieces')).rowCount).toBe(0)
  await expectInvariants(databaseUrl)
})
