// Prints what a test run cost: `node test/kit/costs.ts FILE`, where TEST_COSTS=FILE was set for the run.
import { readFileSync } from 'node:fs'
import type { Cost } from './cost.ts'

const lines = readFileSync(process.argv[2] as string, 'utf8')
  .trimEnd()
  .split('\n')
const costs = lines.map((line) => JSON.parse(line) as Cost).sort((a, b) => totalOf(b) - totalOf(a))
const total = costs.reduce((sum, cost) => sum + totalOf(cost), 0)
console.log(`${(total / 1000).toFixed(0)} s of processor time: seconds of the process, seconds of its children, and where`)
for (const { of, own, children } of costs) {
  console.log((own / 1000).toFixed(1).padStart(7), (children / 1000).toFixed(1).padStart(7), of)
}

function totalOf({ own, children }: Cost): number {
  return own + children
}
