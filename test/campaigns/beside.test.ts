// Instant messages beside a campaign: their workers stay free, however slowly the provider answers the campaign.
import { beforeAll, expect, it } from 'vitest'
import { createCampaign } from '../../src/campaigns/create.ts'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { connectInstance } from '../../src/instances/service.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import { providers } from '../../src/providers/providers.ts'
import { startWorker } from '../../src/worker.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { allowed } from '../kit/measured.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { campaignTo, numbers } from './rig.ts'

let databaseUrl: string
let app: App
let ctx: Context
let instanceId: string
/** Messages offered to the network that have no answer yet. */
const offered: { to: string; answer: (outcome: SendOutcome) => void }[] = []

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  instanceId = (await connectedInstance(databaseUrl, account, { status: 'disconnected' })).id
  app = await openApp(databaseUrl, { ROLES: 'http,worker' })
  const sandbox = providers(app).get('sandbox')
  if (!sandbox) throw new Error('there is no sandbox')
  const send = (_: unknown, { to }: { to: string }) =>
    new Promise<SendOutcome>((answer) => {
      offered.push({ to, answer })
    })
  providers.replace(app, new Map([['sandbox', { ...sandbox, send }]]))
  const worker = await startWorker(app)
  atEnd('file', async () => {
    release()
    await worker[Symbol.asyncDispose]()
  })
  ctx = contextFor(app, account)
})

function release(): void {
  for (const { to, answer } of offered.splice(0)) answer({ outcome: 'accepted', providerMessageId: `test.${to}` })
}

it('offers an instant message at once while every campaign worker waits for the network', async () => {
  const { id } = await createCampaign(ctx, campaignTo(instanceId, numbers(600)))
  // A campaign queues only as many messages as can be sent soon, so that a pause has little to take back.
  await until(async () => {
    const { rows } = await sql(databaseUrl).query<{ n: number; waiting: number }>(
      'select count(*)::int as n, count("waitingSince")::int as waiting from messages where "campaignId" = $1',
      [id],
    )
    return rows[0]?.n === 500 && rows[0].waiting === 500
  })
  // Only now may messages be offered: unanswered ones are given up soon, and their workers go on to the next.
  await connectInstance(ctx, instanceId, null)
  // One page of 50 for each of two workers.
  await until(() => offered.length >= 100)
  const [first] = numbers(1, '5555', 90_000) as [string]
  await sendMessage(ctx, { instanceId, to: first, type: 'text', text: 'hello' })
  // Within 6 s: sooner than the first unanswered message is given up.
  await until(() => offered.some(({ to }) => to === first), { timeoutMs: allowed(6_000) })
  // A slow instance gets an eighth of the 2,000 sends of a process, so the campaign never takes all workers' slots.
  expect(offered.length).toBeLessThanOrEqual(251)
  release()
  await until(() => offered.length > 50)
})
