// The files that `gateway print` prints: for systemd, nginx, Prometheus and Grafana.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { hostToReach } from '../../core/network/listening.ts'

const files = { systemd: 'gateway.service', nginx: 'nginx.conf', alerts: 'alerts.yml' }
const root = path.join(import.meta.dirname, '../../..')

/** The names of the files, each with its description. */
export const printable: Readonly<Record<string, string>> = {
  systemd: 'a service for systemd',
  nginx: 'a site for nginx, with HTTP/2 and streams',
  alerts: 'alerts for Prometheus',
  grafana: 'a dashboard for Grafana',
}

/** The text of one of {@link printable}, with the address of this installation, its `folder` and its Node. */
export async function printed(what: string, { host, port }: Pick<Config, 'host' | 'port'>, folder = root): Promise<string> {
  if (what === 'grafana') return JSON.stringify(dashboard(), null, 2)
  const text = await readFile(path.join(import.meta.dirname, files[what as keyof typeof files]), 'utf8')
  // By functions: in a text, `$` and the character behind it would stand for a part of the match.
  return text
    .trimEnd()
    .replaceAll('@ROOT@', () => literal(folder))
    .replaceAll('@NODE@', () => `"${literal(path.join(folder, 'node_modules/.bin/node'))}"`)
    .replaceAll('@ADDRESS@', `${await hostToReach(host)}:${port || 4000}`)
}

/** A path in a setting of systemd, for which `%` begins a name of its own. */
function literal(folder: string): string {
  return folder.replaceAll('%', '%%')
}

interface Panel {
  title: string
  expr: string
  legend?: string
  unit?: string
}

const panels: readonly Panel[] = [
  { title: 'Requests', expr: 'sum by (status) (rate(gateway_request_seconds_count[1m]))', legend: '{{status}}', unit: 'reqps' },
  {
    title: 'Latency, 99 %',
    expr: 'histogram_quantile(0.99, sum by (le) (rate(gateway_request_seconds_bucket[5m])))',
    unit: 's',
  },
  { title: 'Messages', expr: 'sum by (status) (rate(gateway_messages_total[1m]))', legend: '{{status}}', unit: 'ops' },
  {
    title: 'Failed messages',
    expr: 'sum by (error) (rate(gateway_messages_total{status="failed"}[5m]))',
    legend: '{{error}}',
    unit: 'ops',
  },
  { title: 'Instances', expr: 'sum by (status) (gateway_instances)', legend: '{{status}}' },
  { title: 'Jobs that wait', expr: 'sum by (queue) (gateway_queue_depth)', legend: '{{queue}}' },
  { title: 'Age of the oldest job', expr: 'sum by (queue) (gateway_queue_lag_seconds)', legend: '{{queue}}', unit: 's' },
  {
    title: 'Webhook attempts',
    expr: 'sum by (outcome) (rate(gateway_webhook_attempts_total[1m]))',
    legend: '{{outcome}}',
    unit: 'ops',
  },
  {
    title: "Items of Meta's webhooks",
    expr: 'sum by (outcome) (rate(gateway_cloud_items_total[5m]))',
    legend: '{{outcome}}',
    unit: 'ops',
  },
  { title: 'Disabled endpoints', expr: 'sum by (reason) (gateway_disabled_endpoints)', legend: '{{reason}}' },
  {
    title: 'Event lag, 99 %',
    expr: 'histogram_quantile(0.99, sum by (le) (rate(gateway_relay_lag_seconds_bucket[5m])))',
    unit: 's',
  },
  { title: 'Open streams', expr: 'sum(gateway_open_streams)' },
  { title: 'Waits for the database', expr: 'sum by (pool) (gateway_pool_waiting)', legend: '{{pool}}' },
  { title: 'Oldest transaction', expr: 'max(gateway_oldest_transaction_seconds)', unit: 's' },
  { title: 'Mails', expr: 'sum by (outcome) (rate(gateway_mails_total[5m]))', legend: '{{outcome}}', unit: 'ops' },
  { title: 'Event loop delay, 99 %', expr: 'max(nodejs_eventloop_lag_p99_seconds)', unit: 's' },
]

/** A dashboard for Grafana 10 and newer, which asks for the Prometheus data source when it is imported. */
function dashboard(): object {
  const datasource = { type: 'prometheus', uid: '$datasource' }
  return {
    title: 'Messaging gateway',
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map(({ title, expr, legend, unit = 'short' }, i) => ({
      id: i + 1,
      title,
      type: 'timeseries',
      datasource,
      gridPos: { x: (i % 2) * 12, y: Math.floor(i / 2) * 8, w: 12, h: 8 },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: [{ refId: 'A', datasource, expr, legendFormat: legend ?? title }],
    })),
  }
}
