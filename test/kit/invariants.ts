// Holds the invariants of a test's database.
import { type Expected, findBroken, untilAtRest } from './broken.ts'
import { sql } from './database.ts'

/** Waits for rest, then looks for rows that break each invariant. @throws naming every broken one with examples. */
export async function expectInvariants(databaseUrl: string, expected: Expected = {}): Promise<void> {
  await atRest(databaseUrl, expected.withinMs)
  const broken = await findBroken(sql(databaseUrl), expected)
  if (broken.length > 0) throw new Error(`Broken promises:\n${broken.join('\n')}`)
}

/** Waits until no message is in progress, and every event is numbered. */
export async function atRest(databaseUrl: string, withinMs?: number): Promise<void> {
  await untilAtRest(sql(databaseUrl), withinMs)
}
