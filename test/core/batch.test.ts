// Proves group commit: which calls share a flush, and which calls a failure affects.
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBatch } from '../../src/core/batch.ts'
import { until } from '../kit/until.ts'

/** A batch whose flushes end when the test ends them. */
function controlled(options: { max?: number; parallel?: number; slowMs?: number } = {}) {
  const flushes: { inputs: readonly number[]; end: () => void }[] = []
  const batch = createBatch<number, number>({
    max: options.max ?? 100,
    parallel: options.parallel ?? 1,
    slowMs: options.slowMs,
    run: (inputs) =>
      new Promise((resolve) => {
        flushes.push({ inputs, end: () => resolve(inputs.map((input) => input * 2)) })
      }),
  })
  return { batch, flushes }
}

describe('a batch', () => {
  it('answers each caller with its own result', async () => {
    const batch = createBatch<number, number>({ max: 10, parallel: 1, run: async (inputs) => inputs.map((input) => input * 2) })
    expect(await Promise.all([1, 2, 3].map(batch))).toEqual([2, 4, 6])
  })

  it('combines calls that arrive during a flush into the next one', async () => {
    const { batch, flushes } = controlled()
    const first = batch(1)
    await until(() => flushes.length === 1)
    const later = [batch(2), batch(3)]
    await new Promise(setImmediate)
    expect(flushes).toHaveLength(1)
    flushes[0]?.end()
    await until(() => flushes.length === 2)
    expect(flushes[1]?.inputs).toEqual([2, 3])
    flushes[1]?.end()
    expect(await Promise.all([first, ...later])).toEqual([2, 4, 6])
  })

  it('starts the next flush before the callers of the last one go on', async () => {
    const steps: string[] = []
    const batch = createBatch<number, number>({
      max: 1,
      parallel: 1,
      async run(inputs) {
        // A flush sends its first statement after some turns of promises, for example that of its connection.
        for (let i = 0; i < 10; i++) await undefined
        steps.push(`flush of ${inputs}`)
        return inputs
      },
    })
    const call = async (n: number) => {
      await batch(n)
      steps.push(`caller ${n}`)
    }
    await Promise.all([1, 2].map(call))
    expect(steps.indexOf('flush of 2')).toBeLessThan(steps.indexOf('caller 1'))
  })

  it('never exceeds its maximum of members or of parallel flushes', async () => {
    const { batch, flushes } = controlled({ max: 2, parallel: 2 })
    const all = Promise.all([1, 2, 3, 4, 5].map(batch))
    await until(() => flushes.length === 2)
    await new Promise(setImmediate)
    expect(flushes.map(({ inputs }) => inputs)).toEqual([
      [1, 2],
      [3, 4],
    ])
    for (const { end } of flushes) end()
    await until(() => flushes.length === 3)
    flushes[2]?.end()
    expect(await all).toEqual([2, 4, 6, 8, 10])
  })

  it('starts a second flush beside one that is slow, not before, and no third', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const turn = () => new Promise(setImmediate)
    const { batch, flushes } = controlled({ max: 1, parallel: 2, slowMs: 100 })
    const all = Promise.all([1, 2, 3, 4].map(batch))
    await turn()
    vi.advanceTimersByTime(99)
    await turn()
    expect(flushes).toHaveLength(1)
    vi.advanceTimersByTime(1)
    await turn()
    expect(flushes).toHaveLength(2)
    vi.advanceTimersByTime(1_000)
    await turn()
    expect(flushes).toHaveLength(2)
    // The first one is still slow, so the third starts when the second ends.
    flushes[1]?.end()
    await turn()
    expect(flushes).toHaveLength(3)
    // Beside one that is not slow, none starts.
    flushes[0]?.end()
    await turn()
    expect(flushes).toHaveLength(3)
    flushes[2]?.end()
    await turn()
    flushes[3]?.end()
    expect(await all).toEqual([2, 4, 6, 8])
  })

  it('rejects only the member that failed', async () => {
    const batch = createBatch<number, number>({
      max: 10,
      parallel: 1,
      run: async (inputs) => inputs.map((input) => (input === 2 ? new Error('bad') : input)),
    })
    const [a, b, c] = await Promise.allSettled([1, 2, 3].map(batch))
    expect([a?.status, b?.status, c?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  it('rejects every member of a failed flush, and continues with the next', async () => {
    let broken = true
    const batch = createBatch<number, number>({
      max: 10,
      parallel: 1,
      run: async (inputs) => {
        if (broken) throw new Error('gone')
        return inputs
      },
    })
    expect((await Promise.allSettled([batch(1), batch(2)])).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    broken = false
    expect(await batch(3)).toBe(3)
  })

  it('reports the size of each flush', async () => {
    const sizes: number[] = []
    const batch = createBatch<number, number>({
      max: 10,
      parallel: 1,
      run: async (inputs) => inputs,
      observe: (size) => sizes.push(size),
    })
    await Promise.all([1, 2, 3].map(batch))
    expect(sizes).toEqual([3])
  })
})
