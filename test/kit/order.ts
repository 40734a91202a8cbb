// The order of the test files. Those that wait for child processes are spread among those that compute, so that these fill the cores.
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/** Files that take most of a minute although some of them are short. Vitest begins with the largest file if it has no record of an earlier run. */
const long =
  /\/((permission-matrix\S*|invalid|valid|states|every-page)\.test|(smoke|mail|slow|crash|restart|live)\.process\.test)\.ts$/
const waiting = /\.process\.test\.ts$/

/** The part of the run in which the files of a kind begin. No file that takes long begins at the end. */
const begins = { long: 0.4, waiting: 0.85, computing: 1 }

function kindOf({ moduleId }: TestSpecification): keyof typeof begins {
  if (long.test(moduleId)) return 'long'
  return waiting.test(moduleId) ? 'waiting' : 'computing'
}

export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placed = [...Map.groupBy(await super.sort(files), kindOf)].flatMap(([kind, list]) =>
      list.map((file, i) => ({ file, at: ((i + 0.5) / list.length) * begins[kind] })),
    )
    return placed.sort((a, b) => a.at - b.at).map(({ file }) => file)
  }
}
