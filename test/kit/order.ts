// The order of the test files: tests that wait first, so that those that compute fill the cores beside them, and short files last.
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/** Files that take long although they are short; without a record of an earlier run, vitest begins with the largest file. */
const long = /\/(permission-matrix\S*|invalid|valid)\.test\.ts$/

export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => (project.name === 'gateway' ? (long.test(moduleId) ? 1 : 2) : 0)
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
