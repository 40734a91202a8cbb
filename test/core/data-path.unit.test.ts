// The path of the embedded database is refused where it could not start, instead of failing without a reason.
import { expect, it } from 'vitest'
import { openCluster } from '../../src/core/database/cluster.ts'

it.each(['"', '$', '`', '\\', '\n'])(
  'a path of the embedded database with %j is refused, and the refusal names DATA_DIR',
  async (character) => {
    const opened = openCluster({ dataDir: `/nowhere/a${character}b`, password: 'unused' })
    await expect(opened).rejects.toThrow(/^DATA_DIR: must not lie below a path with /)
  },
)
