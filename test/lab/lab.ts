// A whole installation on this machine, under load and faults: `npm run lab -- --nodes 3 --seconds 60 --faults 1`.
// Prints what it has shown as a table. Exits with 1 if a promise is broken. `npm run lab -- fill --messages 1000000` fills a database (fill.ts),
// and `npm run lab -- growth --seconds 15` measures one to four nodes on one PostgreSQL (growth.ts).
import { parseArgs } from 'node:util'
import { faultNames } from './faults.ts'
import { runFill } from './fill.ts'
import { runGrowth } from './growth.ts'
import { whatIsMissing } from './need.ts'
import { runLab } from './run.ts'
import type { Line } from './verdict.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    messages: { type: 'string', default: '1000000' },
    nodes: { type: 'string', default: '3' },
    members: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
    faults: { type: 'string' },
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})

if (positionals[0] === 'fill') end(await runFill(Number(values.messages)))
if (positionals[0] === 'growth') end(await runGrowth(Number(values.seconds)))

const missing = whatIsMissing()
if (missing) {
  console.error(`The lab needs programs that are not installed: ${missing}`)
  process.exit(2)
}
const only = values.only?.split(',')
const unknown = only?.filter((name) => !faultNames.includes(name)) ?? []
if (unknown.length > 0) {
  console.error(`--only: ${unknown.join(', ')} is no fault; there are: ${faultNames.join(', ')}`)
  process.exit(2)
}

const lines = await runLab({
  nodes: Number(values.nodes),
  database: Number(values.members),
  seconds: Number(values.seconds),
  seed: values.faults === undefined ? undefined : Number(values.faults),
  only,
  keep: values.keep,
})
end(lines)

function end(all: readonly Line[]): never {
  print(all)
  process.exit(all.some(({ kept }) => kept === false) ? 1 : 0)
}

function print(all: readonly Line[]): void {
  const width = Math.max(...all.map(({ what }) => what.length))
  for (const { what, value, kept } of all) {
    console.log(`${kept === undefined ? '      ' : kept ? 'kept  ' : 'BROKEN'} ${what.padEnd(width)}  ${value}`)
  }
}
