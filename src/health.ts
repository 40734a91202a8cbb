// What operators watch: whether the process lives, whether it can serve, its figures.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { isWithin } from './core/address.ts'
import type { App } from './core/app.ts'
import { countDead } from './core/dead-jobs.ts'
import { sendError } from './core/http.ts'
import { pendingMigrations } from './core/migrate.ts'
import { inTime } from './core/time-limit.ts'

const checkTimeoutMs = 2_000

/** Registers `/livez`, `/readyz` and `/metrics`; answers which methods each takes. */
export function mountHealth(http: FastifyInstance, app: App): Map<string, Set<string>> {
  http.get('/livez', async () => ({ status: 'ok' }))
  http.get('/readyz', async (_, reply) => {
    const reasons = await findFaults(app)
    return reply.code(reasons.length > 0 ? 503 : 200).send({ status: reasons.length > 0 ? 'unavailable' : 'ok', reasons })
  })
  http.get('/metrics', async (request, reply) => {
    const { metricsToken } = app.secrets
    const local = isWithin(request.socket.remoteAddress ?? '', ['127.0.0.0/8', '::1/128'])
    if (!local && !bearerIs(request.headers.authorization, metricsToken))
      return sendError(reply, 'UNAUTHORIZED', 'Missing or invalid token')
    // The process's own figures are wanted most while the database does not answer.
    await inTime(checkTimeoutMs, measureQueues(app), () => new Error('no answer')).catch(() => {})
    return reply.type(app.metrics.registry.contentType).send(await app.metrics.registry.metrics())
  })
  return new Map(['/livez', '/readyz', '/metrics'].map((path) => [path, new Set(['GET'])]))
}

function bearerIs(header: string | undefined, token: string | undefined): boolean {
  if (!token || !header) return false
  const given = Buffer.from(header)
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** Why the process cannot serve, in words; nothing when it can. */
async function findFaults(app: App): Promise<string[]> {
  if (app.stopping) return ['the process is stopping']
  const timeout = new Promise<string[]>((resolve) => {
    setTimeout(resolve, checkTimeoutMs, [`the database did not answer within ${checkTimeoutMs} ms`]).unref()
  })
  return await Promise.race([timeout, checkDatabase(app)])
}

async function checkDatabase(app: App): Promise<string[]> {
  try {
    const pending = await pendingMigrations(app.pool)
    if (pending.length > 0) return [`migrations are pending: ${pending.join(', ')}`]
    if (app.config.roles.has('worker') && !(await app.boss.isInstalled())) return ['the job queue is not installed']
    return []
  } catch (error) {
    return [`the database cannot be reached: ${(error as Error).message}`]
  }
}

async function measureQueues(app: App): Promise<void> {
  const { rows } = await app.pool.query<{ name: string; n: number; lag: number }>(
    `select name, count(*)::int as n, coalesce(extract(epoch from now() - min(start_after)), 0)::float8 as lag
     from pgboss.job where state < 'active' and start_after <= now() group by name`,
  )
  app.metrics.queueDepth.reset()
  app.metrics.queueLagSeconds.reset()
  for (const { name, n, lag } of rows) {
    app.metrics.queueDepth.set({ queue: name }, n)
    app.metrics.queueLagSeconds.set({ queue: name }, Math.max(0, lag))
  }
  app.metrics.deadJobs.reset()
  for (const { queue, n } of await countDead(app.pool)) app.metrics.deadJobs.set({ queue }, n)
}
