// Slows guessing down: five failed logins in 15 minutes for one e-mail address, whether anybody has it or not, counted over all processes.
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type pg from 'pg'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database.ts'
import { codeOf, fail } from '../core/errors.ts'
import { type Bound, countOne } from './counts.ts'

const failures: Bound = { most: 5, minutes: 15 }

function hashOf(email: string): Buffer {
  return createHash('sha256').update(email.toLowerCase()).digest()
}

/**
 * Runs an attempt to prove who has the address, where it has a try left; else says on the reply when there will be one.
 * Only an attempt that ends in INVALID_CREDENTIALS costs the try, and one that goes well gives all of them back.
 * @throws API_RATE_LIMIT_EXCEEDED, and what the attempt throws.
 */
export async function guarded<T>(app: App, reply: FastifyReply, email: string, attempt: () => Promise<T>): Promise<T> {
  return await inTurn(email.toLowerCase(), async () => {
    // Taken before it is known to fail, so that many at once are no way round.
    const taken = await countOne(app.pool, hashOf(email), [failures])
    if (!taken.at) {
      reply.header('Retry-After', taken.waitSeconds)
      fail('API_RATE_LIMIT_EXCEEDED', 'Too many failed logins with this e-mail address; try again later')
    }
    let result: T
    try {
      result = await attempt()
    } catch (error) {
      await settleTry(app, email, taken.at, error)
      throw error
    }
    await forgetTries(app.pool, email)
    return result
  })
}

/** The try was taken before it was known to fail; whatever else went wrong is not the caller's failure. */
async function settleTry(app: App, email: string, takenAt: Date, error: unknown): Promise<void> {
  const code = codeOf(error)
  if (code === 'INVALID_CREDENTIALS') return
  // The password was right.
  const settled = code === 'EMAIL_NOT_VERIFIED' ? forgetTries(app.pool, email) : giveBack(app.pool, email, takenAt)
  await settled.catch((err) => app.log.warn({ err }, 'a login that did not fail is counted as one that did'))
}

/** The last attempt of each address; it never rejects. */
const last = new Map<string, Promise<unknown>>()

/**
 * One attempt of an address after the other, or those that are about to go well would take each other's tries. That holds in
 * one process; the count in the database is what bounds them all.
 */
async function inTurn<T>(email: string, work: () => Promise<T>): Promise<T> {
  const mine = (last.get(email) ?? Promise.resolve()).then(work)
  const settled = mine.then(
    () => {},
    () => {},
  )
  last.set(email, settled)
  try {
    return await mine
  } finally {
    if (last.get(email) === settled) last.delete(email)
  }
}

/** That one alone; none where all are forgotten by now. */
async function giveBack(pool: pg.Pool, email: string, takenAt: Date): Promise<void> {
  await pool.query(
    `update email_counts c set at = at[:place - 1] || at[place + 1:] from (
        select digest, array_position(at, $2::timestamptz(3)) as place from email_counts where digest = $1 for update
      ) found where c.digest = found.digest and place is not null`,
    [hashOf(email), takenAt],
  )
}

/** After a login that went well, or another password. */
export async function forgetTries(sql: Sql, email: string): Promise<void> {
  await sql.query('delete from email_counts where digest = $1', [hashOf(email)])
}
