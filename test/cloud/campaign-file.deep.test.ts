// Campaigns that send one file of ours to many recipients through Meta: one upload, and memory that does not grow with their number.
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { residentBytes } from '../kit/resident.ts'
import { until } from '../kit/until.ts'
import { upload } from '../media/rig.ts'
import { openStage } from './kill-rig.ts'
import { rigOf } from './rig.ts'

/** Of each campaign. Several leave faster than one, whose rate is bounded. */
const recipients = Number(process.env.RECIPIENTS ?? 20_000) / 10
const campaigns = 10

it('are sent with one upload, in memory that does not grow', async () => {
  const { databaseUrl, standIn, account, env } = await openStage()
  const gateway = await startGateway({ databaseUrl, env: { ...env, RATE_LIMIT_PER_SECOND: '100000' } })
  const rig = rigOf(databaseUrl, standIn, gateway, account)
  const phone = await rig.phone()
  await sql(databaseUrl).query(`update subscriptions set plan = 'max'`)
  const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n'), Buffer.alloc(2 * 1024 * 1024, 1)])
  const { body } = await upload(gateway, account.apiKey, pdf)
  for (let n = 0; n < campaigns; n++) {
    const answer = await rig.api.post('campaigns', {
      instanceId: phone.id,
      name: `Bill ${n}`,
      type: 'document',
      mediaUrl: body.data.url,
      ratePerMinute: 6_000,
      recipients: Array.from({ length: recipients }, (_, i) => ({ to: `+3933${30_000_000 + n * recipients + i}` })),
    })
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 201 })
  }
  const all = campaigns * recipients
  // The bodies that arrived would fill the memory of this process.
  let taken = 0
  const sizes: number[] = []
  await until(
    () => {
      taken += standIn.messages.splice(0).length
      standIn.requests = standIn.requests.filter(({ path }) => path.endsWith('media'))
      sizes.push(residentBytes(gateway.pid) / 1024 ** 2)
      return taken === all
    },
    { timeoutMs: 1_500_000, everyMs: 250 },
  )
  expect(standIn.uploads.size).toBe(1)
  const quarter = Math.floor(sizes.length / 4)
  const peaks = [1, 2, 3].map((n) => Math.round(Math.max(...sizes.slice(n * quarter, (n + 1) * quarter))))
  console.log(`one file to ${all} recipients: ${peaks.join(', ')} MiB at most in the last three quarters of the time`)
  expect(peaks[2]).toBeLessThan((peaks[0] as number) * 1.15)
}, 1_600_000)
