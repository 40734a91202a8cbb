// Registers the jobs of every domain, and starts the background work: workers, providers, relay.
import { accountJobs } from './accounts/jobs.ts'
import { mailImplementation } from './accounts/mail/order.ts'
import { hostFor } from './app.ts'
import { billingJobs } from './billing/jobs.ts'
import { startPlanSweep } from './billing/sweep.ts'
import { advanceImplementation } from './campaigns/advance.ts'
import { sweepImplementation as sweepCampaigns } from './campaigns/sweep.ts'
import { bulkImplementation } from './contacts/bulk/chunks.ts'
import { pruneBulkJobs } from './contacts/prune.ts'
import type { App } from './core/app.ts'
import { startAnalyzing } from './core/database/statistics.ts'
import { pruneKeys } from './core/idempotency/prune.ts'
import type { JobImplementation } from './core/jobs/jobs.ts'
import { makeQueues, workOn } from './core/jobs/work.ts'
import { eraseAccountImplementation } from './erase-account.ts'
import { announceOutbox } from './events/log/announce.ts'
import { pruneEvents } from './events/log/prune.ts'
import { startRelay } from './events/log/relay.ts'
import { closeImplementation } from './instances/close.ts'
import { mediaJobs } from './media/jobs.ts'
import { countDays, pruneDays } from './messages/days.ts'
import { dispatchImplementations } from './messages/dispatch/dispatch.ts'
import { startLines } from './messages/dispatch/lines.ts'
import { startReleasing } from './messages/dispatch/release.ts'
import { sweepImplementation } from './messages/dispatch/sweep.ts'
import { releaseImplementation } from './messages/dispatch/waiting.ts'
import { eraseImplementation } from './messages/erase/erase.ts'
import { countingSink } from './messages/events.ts'
import { earlyImplementation } from './messages/receipts/early.ts'
import { readImplementation } from './messages/receipts/mark-read.ts'
import { fetchImplementation } from './messages/receipts/media.ts'
import { forgetImplementation } from './messages/retention/forget.ts'
import { expireImplementation } from './messages/retention/sweep.ts'
import { cloudJobs } from './providers/cloud/jobs.ts'
import { providers } from './providers/providers.ts'
import { pruneWeb } from './providers/web/prune.ts'
import { deliveryQueues } from './webhooks/delivery-queues.ts'
import { webhookJobs } from './webhooks/jobs.ts'
import { webhookSink } from './webhooks/sink.ts'

const jobs: readonly JobImplementation[] = [
  pruneKeys,
  mailImplementation,
  ...accountJobs,
  ...billingJobs,
  closeImplementation,
  eraseAccountImplementation,
  ...dispatchImplementations,
  releaseImplementation,
  sweepImplementation,
  expireImplementation,
  forgetImplementation,
  earlyImplementation,
  fetchImplementation,
  readImplementation,
  eraseImplementation,
  advanceImplementation,
  sweepCampaigns,
  bulkImplementation,
  pruneBulkJobs,
  pruneDays,
  pruneEvents,
  ...mediaJobs,
  ...cloudJobs,
  pruneWeb,
  ...webhookJobs,
]

/**
 * Scheduled jobs that earlier versions had under these names. Their schedules would go on to add jobs, which nobody runs. They are named here,
 * because a process cannot tell them from those that a newer version has added.
 */
const dropped: readonly string[] = ['billing.end_periods']

/** Every process creates all queues, so that each can enqueue any job. */
export async function createQueues(app: App): Promise<void> {
  await makeQueues(app, jobs, dropped)
}

/** Starts the background work of this process's roles. Disposing of it finishes the running work or hands it back. */
export async function startWorker(app: App): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  parts.use(announceOutbox(app))
  if (app.config.roles.has('relay')) parts.use(await startRelay(app, [webhookSink(app), countDays, countingSink(app)]))
  if (app.config.roles.has('worker')) {
    for (const provider of providers(app).values()) parts.use(await provider.start(hostFor(app, provider.name)))
    parts.use(deliveryQueues(app).start())
    parts.use(startPlanSweep(app))
    parts.use(startAnalyzing(app))
    parts.use(startReleasing(app))
    parts.use(startLines(app))
    parts.use(await workOn(app, jobs))
  }
  return parts.move()
}
