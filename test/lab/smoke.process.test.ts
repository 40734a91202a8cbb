// The lab's short runs: two nodes on one database always, and a lost primary where Patroni and its companions are installed.
import { expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { whatIsMissing } from './need.ts'
import { runLab } from './run.ts'

const broken = (lines: Awaited<ReturnType<typeof runLab>>) => lines.filter(({ kept }) => kept === false)

it('two nodes lose, double, swap and skip nothing while one is killed', { timeout: 240_000 }, async () => {
  const lines = await runLab({ nodes: 2, database: await cloneDatabase(), seconds: 6, seed: 1, only: ['node killed'] })
  expect(broken(lines)).toEqual([])
})

it.runIf(whatIsMissing() === undefined)(
  'three nodes behind HAProxy and PgBouncer lose, double, swap and skip nothing when the primary is lost',
  { timeout: 400_000 },
  async () => {
    const lines = await runLab({ nodes: 3, database: 3, seconds: 6, seed: 1, only: ['primary killed'] })
    expect(broken(lines)).toEqual([])
  },
)
