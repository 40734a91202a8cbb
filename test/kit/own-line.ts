// A line that ends with the test.
import { atEnd } from './at-end.ts'
import { createLine, type Line } from './line.ts'

export async function openLine(databaseUrl: string): Promise<Line> {
  const line = await createLine(databaseUrl)
  atEnd('test', () => line[Symbol.asyncDispose]())
  return line
}
