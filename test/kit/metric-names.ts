// The names of all metrics of a process.
import { createMetrics } from '../../src/core/metrics.ts'

export async function metricNames(): Promise<Set<string>> {
  const found = await createMetrics().registry.getMetricsAsJSON()
  return new Set(found.map(({ name }) => name))
}
