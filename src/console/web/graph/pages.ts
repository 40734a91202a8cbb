// Reads the further pages of a list, and joins them with the first one, so that no row is missing and none is there twice.

export interface Page<Row> {
  rows: readonly Row[]
  /** The cursor of the next page; null after the last one. */
  next: string | null
}

/** The most rows that the graph returns at once. */
const mostRows = 100

/**
 * Reads a list again from its first page, until it has as many rows as are shown, or ends. A list that grows while one looks stays as long as
 * it is, so that reading it again every few seconds never costs more.
 */
export async function readAgain<Row>(
  first: Page<Row>,
  readPage: (after: string, size: number) => Promise<Page<Row>>,
  shown: number,
): Promise<Page<Row>> {
  let { rows, next } = first
  while (next !== null && rows.length < shown) {
    const page = await readPage(next, Math.min(mostRows, shown - rows.length))
    rows = [...rows, ...page.rows]
    next = page.next
  }
  return { rows, next }
}

/** The rows of the first page as they are now, and then those that were read together with the further pages. */
export function join<Row>(first: readonly Row[], read: readonly Row[], idOf: (row: Row) => string): readonly Row[] {
  const rows = new Map(first.map((row) => [idOf(row), row]))
  for (const row of read) if (!rows.has(idOf(row))) rows.set(idOf(row), row)
  return [...rows.values()]
}

/** True if rows may be missing between the first page and the others, because more than a page has come since. */
export function isTorn<Row>(first: readonly Row[], read: readonly Row[], idOf: (row: Row) => string): boolean {
  const ids = new Set(read.map(idOf))
  return first.length > 0 && read.length > 0 && !first.some((row) => ids.has(idOf(row)))
}
