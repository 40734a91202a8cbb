// npm run bench [-- NAME] [-- full] [-- --json FILE]: every figure beside a bare baseline of the same run, in ten minutes on a slow machine. `full`
// adds the bench `cost` and the heap of the console, whose figures are curves, and more and longer rounds of networks, campaign
// and console.
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { benchAccept, type Figures } from './accept.ts'
import { benchBulk } from './bulk.ts'
import { benchCampaign } from './campaign.ts'
import { benchConsole } from './console.ts'
import { benchContactsPage } from './contacts-page.ts'
import { benchCost } from './cost.ts'
import { benchDispatch } from './dispatch.ts'
import { benchFanout } from './fanout.ts'
import { benchLatency } from './latency.ts'
import { benchList } from './list.ts'
import { benchNetworks } from './networks.ts'
import { closeServer } from './stage.ts'
import { benchWebhooks } from './webhooks.ts'

type Bench = (full: boolean) => Promise<Figures[]>

const benches: Record<string, Bench> = {
  accept: benchAccept,
  dispatch: benchDispatch,
  bulk: benchBulk,
  latency: benchLatency,
  networks: benchNetworks,
  webhooks: benchWebhooks,
  'fan-out': benchFanout,
  campaign: benchCampaign,
  list: benchList,
  'contacts-page': benchContactsPage,
  console: benchConsole,
  cost: benchCost,
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
const full = positionals.includes('full')
const named = positionals.filter((name) => name !== 'full')
const names = named.length > 0 ? named : Object.keys(benches).filter((name) => full || name !== 'cost')
const unknown = names.filter((name) => !benches[name])
if (unknown.length > 0) {
  console.error(`No bench is called ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`)
  process.exit(1)
}

const figures: Figures[] = []
for (const name of names) {
  const begun = performance.now()
  figures.push(...(await (benches[name] as Bench)(full)))
  console.error(`${name} took ${secondsSince(begun)} s`)
}
await closeServer()
console.error(`all took ${secondsSince(0)} s`)

function secondsSince(begun: number): number {
  return Math.round((performance.now() - begun) / 1000)
}

/** Compares with a target such as `≥ 1.5 ×` (of the baseline) or `≤ 30 ms` (in the bench's own unit). */
function meets(target: string, gateway: number, ratio: number): boolean {
  const [, sign, bound, unit] = target.match(/^(≥|≤) ([\d.]+)(?: (×|m?s|MB))?$/) ?? []
  if (!sign) throw new Error(`${target} is not a target that can be compared`)
  const value = unit === '×' ? ratio : gateway
  return sign === '≥' ? value >= Number(bound) : value <= Number(bound)
}

const round = (value: number) => Number(value.toPrecision(4))
console.table(
  figures.map(({ name, unit, baseline, gateway, ratio, target }) => ({
    bench: name,
    baseline: round(baseline),
    gateway: round(gateway),
    unit,
    ratio: round(ratio),
    target,
    result: target === 'printed' ? '' : meets(target, gateway, ratio) ? 'pass' : 'FAIL',
  })),
)
const report = {
  node: process.version,
  processors: cpus().length,
  model: cpus()[0]?.model,
  at: new Date().toISOString(),
  figures,
}
if (values.json) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`)
else console.log(JSON.stringify(report))
process.exit(0)
