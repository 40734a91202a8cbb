// The faults that `planted.deep.test.ts` plants have their places in the sources, so that a change which moves one shows at once.
import { expect, it } from 'vitest'
import { plantedFaults, withFault } from './planted.ts'

it.each(Object.entries(plantedFaults))('%s can be planted', (_, fault) => {
  const source = withFault(fault)
  for (const [, planted] of fault.changes) expect(source).toContain(planted)
})
