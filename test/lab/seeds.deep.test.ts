// Twenty mixed courses of faults on a whole installation, by seeds 1 to 20, and rolling upgrades. `LAB_SEEDS=3,7` chooses seeds, `LAB_SECONDS=n` longer courses.
import { expect, it } from 'vitest'
import { whatIsMissing } from './need.ts'
import { runLab } from './run.ts'

const seeds = process.env.LAB_SEEDS?.split(',').map(Number) ?? Array.from({ length: 20 }, (_, i) => i + 1)
const seconds = Number(process.env.LAB_SECONDS ?? 40)

it.runIf(whatIsMissing() === undefined).each(seeds)(
  'three nodes on a replicated PostgreSQL lose, double, swap and skip nothing through faults (seed %i)',
  { timeout: 900_000 },
  async (seed) => {
    const lines = await runLab({ nodes: 3, database: 3, seconds, seed })
    console.log(lines.map(({ what, value }) => `${what}: ${value}`).join('\n'))
    expect(lines.filter(({ kept }) => kept === false)).toEqual([])
  },
)

it.runIf(whatIsMissing() === undefined)(
  'no request takes more than two attempts during rolling upgrades',
  { timeout: 900_000 },
  async () => {
    const lines = await runLab({ nodes: 3, database: 3, seconds, seed: 1, only: ['rolling upgrade'] })
    expect(lines.find(({ what }) => what.startsWith('attempts'))).toMatchObject({ kept: true })
    expect(lines.filter(({ kept }) => kept === false)).toEqual([])
  },
)
