// Slows guessing down: five failed logins in 15 minutes for one e-mail address, whether anybody has it or not, counted over all processes.
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type pg from 'pg'
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'

const maxFailures = 5
const windowMinutes = 15

function hashOf(email: string): Buffer {
  return createHash('sha256').update(email.toLowerCase()).digest()
}

/** Takes one of the address's tries, and says on the reply when there will be another. @throws API_RATE_LIMIT_EXCEEDED. */
export async function guarded(app: App, reply: FastifyReply, email: string): Promise<void> {
  const waitSeconds = await takeTry(app.pool, email)
  if (waitSeconds === null) return
  reply.header('Retry-After', waitSeconds)
  fail('API_RATE_LIMIT_EXCEEDED', 'Too many failed logins with this e-mail address; try again later')
}

/** Null where it may be made, else the seconds until the next may. Taken before it is known to fail, so that many at once are no way round. */
async function takeTry(pool: pg.Pool, email: string): Promise<number | null> {
  const recent = `(select coalesce(array_agg(t order by t), '{}') from unnest(f.at) t where t > now() - make_interval(mins => $2))`
  const { rowCount } = await pool.query(
    `insert into login_failures as f ("emailHash", at) values ($1, array[now()])
      on conflict ("emailHash") do update set at = ${recent} || now(), "updatedAt" = now()
      where cardinality(${recent}) < $3`,
    [hashOf(email), windowMinutes, maxFailures],
  )
  if (rowCount) return null
  const { rows } = await pool.query<{ seconds: number }>(
    `select ceil(extract(epoch from min(t) + make_interval(mins => $2) - now()))::int as seconds
      from login_failures f, unnest(f.at) t where f."emailHash" = $1 and t > now() - make_interval(mins => $2)`,
    [hashOf(email), windowMinutes],
  )
  return Math.max(1, rows[0]?.seconds ?? 1)
}

/** After a login that went well. */
export async function forgetTries(pool: pg.Pool, email: string): Promise<void> {
  await pool.query('delete from login_failures where "emailHash" = $1', [hashOf(email)])
}
