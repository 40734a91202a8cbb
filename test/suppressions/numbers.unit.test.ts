// Proves that a file of numbers is read in turns of the event loop, whatever its lines are.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { type NumbersFile, readNumbers } from '../../src/suppressions/numbers.ts'

const [one, other] = ['+4915112345678', '+4915112345679']

it('reads a text and a file alike, across the slices in which they are read', async () => {
  const text = `\uFEFF${one}\r\n${'\r\n'.repeat(20_000)}"${other}"\n${one}\nx`
  const expected = { numbers: [one, other], repeated: 1, invalid: 1 }
  expect(await readNumbers({ text })).toEqual(expected)
  const dir = await mkdtemp(path.join(tmpdir(), 'numbers-'))
  try {
    const file = path.join(dir, 'numbers.txt')
    await writeFile(file, text)
    expect(await readNumbers({ path: file })).toEqual(expected)
  } finally {
    await rm(dir, { recursive: true })
  }
})

it.each(['\n', '\u2028', 'x\n'])('leaves turns of the event loop to others in a text of many lines %j', async (line) => {
  const text = line.repeat(99_999 / line.length)
  expect(await turnsDuring({ text })).toBeGreaterThan(20)
})

/** Nothing else is awaited here, so the turns are those that the reader takes. */
async function turnsDuring(file: NumbersFile): Promise<number> {
  let turns = 0
  let ended = false
  const count = () => {
    turns++
    if (!ended) setImmediate(count)
  }
  setImmediate(count)
  await readNumbers(file)
  ended = true
  return turns
}
