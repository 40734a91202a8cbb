// Registers every domain's jobs, and starts what runs beside requests: workers, providers, the relay.
import type { WorkOptions } from 'pg-boss'
import type { App } from './core/app.ts'
import type { JobImplementation } from './core/jobs.ts'
import { eventJobs } from './events/jobs.ts'
import { startRelay } from './events/relay.ts'
import { applyChange, changeState } from './instances/state.ts'
import { dispatchImplementation } from './messages/dispatch.ts'
import { receiveMessages } from './messages/inbound.ts'
import { applyReceipts } from './messages/receipts.ts'
import { sweepImplementation } from './messages/waiting.ts'
import type { ProviderEvents } from './providers/provider.ts'
import { webhookJobs } from './webhooks/jobs.ts'
import { webhookSink } from './webhooks/sink.ts'

const jobs: readonly JobImplementation[] = [dispatchImplementation, sweepImplementation, ...eventJobs, ...webhookJobs]

/** Makes the queues, or brings their options up to date. Every process does, so that any may enqueue. */
export async function createQueues(app: App): Promise<void> {
  for (const { definition } of jobs) {
    const { policy, ...options } = definition.options ?? {}
    await app.boss.createQueue(definition.name, { ...options, policy })
    await app.boss.updateQueue(definition.name, options)
  }
}

/** Starts what this process's roles ask for; disposing of it finishes or hands back what is under way. */
export async function startWorker(app: App): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  if (app.config.roles.has('relay')) parts.use(await startRelay(app, [webhookSink(app)]))
  if (app.config.roles.has('worker')) {
    const events = providerEvents(app)
    for (const provider of app.providers.values()) parts.use(await provider.start(events))
    parts.use(app.deliveries.start())
    for (const job of jobs) await work(app, job)
    parts.defer(() => stopWork(app))
  }
  return parts.move()
}

function providerEvents(app: App): ProviderEvents {
  return {
    state: (change, tx) => (tx ? applyChange(app, tx, change) : changeState(app, change)),
    inbound: (messages) => receiveMessages(app, messages),
    receipts: async (receipts) => {
      const provider = 'sandbox'
      const end = app.metrics.receiptSeconds.startTimer({ provider })
      const unknown = await applyReceipts(app, receipts)
      end()
      if (unknown.length > 0) app.log.debug({ receipts: unknown.length }, 'receipts of messages that are not known')
    },
  }
}

async function work(app: App, { definition, work: shape, run }: JobImplementation): Promise<void> {
  const options = {
    batchSize: shape.batchSize,
    localConcurrency: shape.workers,
    perJobResults: true,
    burstWhenBatchFull: true,
    pollingIntervalSeconds: 0.5,
    // Jobs of the future announce nothing, so polling stays as short as it is without announcements.
    notifyPollingIntervalSeconds: 0.5,
  } as const satisfies WorkOptions
  await app.boss.work(definition.name, options, async (batch) => {
    const parsed = batch.map((job) => definition.schema.safeParse(job.data ?? {}))
    const good = batch.filter((_, i) => parsed[i]?.success)
    const settled = await run(
      app,
      parsed.flatMap((result) => (result.success ? [result.data] : [])),
    ).catch((error: Error) => {
      app.log.warn({ queue: definition.name, jobs: good.length, err: error.message }, 'jobs broke off and will be tried again')
      return good.map(() => error)
    })
    const errors = new Map(good.map((job, i) => [job.id, settled[i]]))
    return batch.map((job) => {
      if (!errors.has(job.id)) {
        app.log.error({ queue: definition.name, job: job.id }, 'a job that nobody understands was set aside')
        return { id: job.id, status: 'deadletter' as const, output: { error: 'unreadable' } }
      }
      const error = errors.get(job.id)
      return error
        ? { id: job.id, status: 'failed' as const, output: { error: error.message } }
        : { id: job.id, status: 'completed' as const }
    })
  })
  if (definition.cron) await app.boss.schedule(definition.name, definition.cron, {})
}

async function stopWork(app: App): Promise<void> {
  await Promise.all(jobs.map(({ definition }) => app.boss.offWork(definition.name, { wait: true }).catch(() => {})))
}
