// Proves that source files stay short enough to be read as a whole.
import { describe, expect, it } from 'vitest'
import { type Source, sourcesOf } from './sources.ts'

const code = sourcesOf('src', 'rest-compat')
const tests = sourcesOf('test')
/** A journey in the browser proves a page in fewer lines than its elements have. */
const proved = code.filter(({ path }) => !path.startsWith('src/console/web/'))

/** The minimum number of test lines for each line of code. */
const leastTestShare = 1

function quantile(sources: readonly Source[], share: number): number {
  const lines = sources.map((source) => source.lines).sort((a, b) => a - b)
  return lines[Math.ceil(share * lines.length) - 1] as number
}

function sum(sources: readonly Source[]): number {
  return sources.reduce((total, { lines }) => total + lines, 0)
}

function longerThan(limit: number, sources: readonly Source[]): string[] {
  return sources.filter(({ lines }) => lines > limit).map(({ path, lines }) => `${path}: ${lines} lines`)
}

describe('the code', () => {
  it('has a median of at most 70 lines a file', () => {
    expect(quantile(code, 0.5)).toBeLessThanOrEqual(70)
  })

  it('has at most 250 lines in 19 of 20 files', () => {
    expect(quantile(code, 0.95), longerThan(250, code).join(', ')).toBeLessThanOrEqual(250)
  })

  it('has no file over 400 lines, and neither have the tests', () => {
    expect(longerThan(400, [...code, ...tests])).toEqual([])
  })

  it('has at least as many lines of tests as of code, apart from the pages of the console', () => {
    expect(sum(tests) / sum(proved), `${sum(tests)} lines of tests, ${sum(proved)} of code`).toBeGreaterThanOrEqual(
      leastTestShare,
    )
  })
})
