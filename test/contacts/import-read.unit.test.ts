// Proves how an import reads its file: within which bounds, and with which line numbers.
import { expect, it } from 'vitest'
import { type FileRecord, maxCells, readRecords } from '../../src/contacts/import/read.ts'

const pieceBytes = 256 * 1024

/** Reads the file as an import does. `piecesRead` says how far. */
function reading(text: string) {
  const file = Buffer.from(text)
  const read = { piecesRead: 0, records: [] as FileRecord[] }
  async function query(_: string, [, n]: [jobId: string, n: number]) {
    read.piecesRead = Math.max(read.piecesRead, n)
    const bytes = file.subarray(n * pieceBytes, (n + 1) * pieceBytes)
    return { rows: bytes.length > 0 ? [{ bytes }] : [] }
  }
  async function all(): Promise<FileRecord[]> {
    for await (const record of readRecords({ pool: { query } as never }, 'job')) read.records.push(record)
    return read.records
  }
  return { all, read }
}

it.each([',', ';'])('takes a line of 25,000 cells between %j, and none of more', async (separator) => {
  const titles = `name${separator}phone\n`
  const [, widest] = await reading(`${titles}${separator.repeat(maxCells - 1)}x`).all()
  expect(widest?.cells).toHaveLength(maxCells)
  await expect(reading(`${titles}\r\n${separator.repeat(maxCells)}x`).all()).rejects.toMatchObject({
    line: 3,
    message: 'must have at most 25000 cells in a line',
  })
})

it('counts no separator within quotes, and begins anew with each line', async () => {
  const line = `",""${','.repeat(maxCells)}"${','.repeat(maxCells - 1)}`
  expect(await reading(`${line}\n${line}\r${line}\r\n${line}`).all()).toHaveLength(4)
})

it('stops soon after the line with too many cells begins, however long it is', async () => {
  const { all, read } = reading(`name,phone\n${','.repeat(80 * pieceBytes)}x`)
  await expect(all()).rejects.toThrow('must have at most 25000 cells')
  expect(read.piecesRead).toBeLessThan(10)
})

it.each(['\n', '\r\n', '\r'])(
  'names the line that a record begins on, and that of a fault, whatever breaks %j its cells have',
  async (end) => {
    const lines = [`"a${end}b",x`, `"c${end}${end}d",x`, `"${end}",`, 'e,x', '']
    expect((await reading(lines.join(end)).all()).map(({ line }) => line)).toEqual([1, 3, 8])
    await expect(reading([...lines, 'f"f,x'].join(end)).all()).rejects.toMatchObject({ line: 10 })
  },
)
