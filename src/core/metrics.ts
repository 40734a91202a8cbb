// All figures of /metrics, each declared once.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { version } from './version.ts'

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export type Metrics = ReturnType<typeof createMetrics>

let ofProcess: Registry | undefined

/** prom-client's defaults, which include event loop delay and memory. Once per process: their timer and observer never end. */
function registryOfProcess(): Registry {
  if (ofProcess) return ofProcess
  ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess })
  return ofProcess
}

/** Creates a separate registry for each App, so that two Apps in one process do not share figures. */
export function createMetrics() {
  const own = new Registry()
  const registers = [own]
  new Gauge({
    name: 'gateway_build_info',
    help: 'Version of the gateway and of Node; always 1',
    labelNames: ['version', 'node'],
    registers,
  })
    .labels(version, process.versions.node)
    .set(1)
  return {
    requestSeconds: new Histogram({
      name: 'gateway_request_seconds',
      help: 'Request latency',
      labelNames: ['method', 'route', 'status'],
      buckets: seconds,
      registers,
    }),
    batchSize: new Histogram({
      name: 'gateway_batch_size',
      help: 'Members of one group commit',
      labelNames: ['batch'],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      registers,
    }),
    sendSeconds: new Histogram({
      name: 'gateway_send_seconds',
      help: 'Time of one provider send',
      labelNames: ['provider', 'outcome'],
      buckets: seconds,
      registers,
    }),
    receiptSeconds: new Histogram({
      name: 'gateway_receipt_seconds',
      help: 'From a receipt being reported to its commit',
      labelNames: ['provider'],
      buckets: seconds,
      registers,
    }),
    cloudItems: new Counter({
      name: 'gateway_cloud_items_total',
      help: "Statuses and messages in posts of Meta's webhook, by outcome",
      labelNames: ['outcome'],
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'gateway_webhook_attempts_total',
      help: 'Webhook attempts by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    relayLagSeconds: new Histogram({
      name: 'gateway_relay_lag_seconds',
      help: 'From an event being committed to its number',
      buckets: seconds,
      registers,
    }),
    relayFailures: new Counter({
      name: 'gateway_relay_failures_total',
      help: 'Batches of events that could not be numbered and were tried again',
      registers,
    }),
    openStreams: new Gauge({ name: 'gateway_open_streams', help: 'Live subscriptions of this process', registers }),
    stalledStreams: new Counter({
      name: 'gateway_stalled_streams_total',
      help: 'Streams cut because their reader stopped reading',
      registers,
    }),
    fencedWrites: new Counter({
      name: 'gateway_fenced_writes_total',
      help: 'Outcomes refused because their lease had passed to another',
      registers,
    }),
    messages: new Counter({
      name: 'gateway_messages_total',
      help: 'Messages that reached a status, by the error code of failures; counted where events are numbered',
      labelNames: ['status', 'error'],
      registers,
    }),
    mails: new Counter({
      name: 'gateway_mails_total',
      help: 'Attempts to send a mail, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    poolWaits: new Gauge({
      name: 'gateway_pool_waiting',
      help: 'Requests of this process that wait for a database connection, by pool',
      labelNames: ['pool'],
      registers,
    }),
    poolConnections: new Gauge({
      name: 'gateway_pool_connections',
      help: 'Open database connections of this process, by pool and state',
      labelNames: ['pool', 'state'],
      registers,
    }),
    // The figures below are about the whole installation. One process at a time reports them, so that they add up over processes.
    instances: new Gauge({ name: 'gateway_instances', help: 'Instances, by status', labelNames: ['status'], registers }),
    disabledEndpoints: new Gauge({
      name: 'gateway_disabled_endpoints',
      help: 'Webhook endpoints whose deliveries were stopped, by reason',
      labelNames: ['reason'],
      registers,
    }),
    oldestTransaction: new Gauge({
      name: 'gateway_oldest_transaction_seconds',
      help: 'Age of the oldest open transaction that keeps PostgreSQL from removing dead rows, of those that its user may see',
      registers,
    }),
    waitingMails: new Gauge({ name: 'gateway_mails_waiting', help: 'Mails that are not sent yet', registers }),
    queueDepth: new Gauge({ name: 'gateway_queue_depth', help: 'Jobs that wait, by queue', labelNames: ['queue'], registers }),
    queueLagSeconds: new Gauge({
      name: 'gateway_queue_lag_seconds',
      help: 'Age of the oldest job that could run, by queue',
      labelNames: ['queue'],
      registers,
    }),
    deadJobs: new Gauge({
      name: 'gateway_dead_jobs',
      help: 'Jobs that failed permanently in the last 14 days, by queue',
      labelNames: ['queue'],
      registers,
    }),
    // The last property: it takes all of the above.
    registry: Registry.merge([registryOfProcess(), own]),
  }
}
