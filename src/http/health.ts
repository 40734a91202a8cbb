// Endpoints for operators: liveness, readiness, metrics.
import { timingSafeEqual } from 'node:crypto'
import path from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { App } from '../core/app.ts'
import { pendingMigrations } from '../core/database/migrate.ts'
import { sendError } from '../core/http/error-answer.ts'
import { isFromHere } from '../core/network/proxy.ts'
import { definePart } from '../core/part.ts'
import { inTime } from '../core/time-limit.ts'
import { checkWritable } from '../core/writable.ts'
import { measurePools, measureWhole } from './figures.ts'

const checkTimeoutMs = 2_000

/** Readiness of this process. The servers of PORT and HEALTH_PORT share it, so that each check runs and is logged once. */
const readiness = definePart(createReadiness)

/** Registers `/livez`, `/readyz` and `/metrics`. Returns the methods of each path. */
export function mountHealth(http: FastifyInstance, app: App): Map<string, Set<string>> {
  http.get('/livez', async () => ({ status: 'ok' }))
  http.get('/readyz', async (_, reply) => {
    const fault = await readiness(app)()
    return reply.code(fault ? 503 : 200).send({ status: fault ? 'unavailable' : 'ok', reasons: fault ? [fault] : [] })
  })
  http.get('/metrics', async (request, reply) => {
    if (!mayMeasure(request, app.secrets.metricsToken)) return sendError(reply, 'UNAUTHORIZED', 'Missing or invalid token')
    // The metrics of the process matter most while the database does not answer.
    await inTime(checkTimeoutMs, measureWhole(app), () => new Error('no answer')).catch(() => {})
    measurePools(app)
    return reply.type(app.metrics.registry.contentType).send(await app.metrics.registry.metrics())
  })
  return new Map(['/livez', '/readyz', '/metrics'].map((path) => [path, new Set(['GET'])]))
}

/** With a token configured, requires it from every client. Without one, allows clients on this machine only. */
function mayMeasure(request: FastifyRequest, token: string | undefined): boolean {
  return token === undefined ? isFromHere(request) : bearerIs(request.headers.authorization, token)
}

function bearerIs(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** Why the process is not ready. Anyone may ask, so the answer contains no more than this code. */
export type NotReady =
  | 'stopping'
  | 'database_silent'
  | 'database_unreachable'
  | 'migrations_pending'
  | 'job_queue_missing'
  | 'disk_unwritable'

interface Fault {
  code: NotReady
  /** Detail for the log. */
  words: string
}

/**
 * Returns a function that answers why the process is not ready, or undefined if it is, within {@link checkTimeoutMs}. Concurrent calls
 * share one check of the database and of the disk. Each reason is logged once until the process is ready again.
 */
function createReadiness(app: App): () => Promise<NotReady | undefined> {
  let looking: Promise<Fault | undefined> | undefined
  /** Reasons that were logged since the process was last ready. */
  const reported = new Set<NotReady>()

  function report(fault: Fault | undefined): void {
    if (!fault) {
      if (reported.size > 0) app.log.info('the process can serve again')
      reported.clear()
    } else if (!reported.has(fault.code)) {
      reported.add(fault.code)
      app.log.warn({ reason: fault.code, err: fault.words }, 'the process cannot serve')
    }
  }

  return async () => {
    if (app.draining || app.stopping) return 'stopping'
    looking ??= Promise.all([answerOf(checkDatabase(app), 'database_silent'), answerOf(checkDisk(app), 'disk_unwritable')])
      .then(([database, disk]) => database ?? disk)
      .finally(() => {
        looking = undefined
      })
    const fault = await looking
    report(fault)
    return fault?.code
  }
}

/** The fault that a check found; `silent` if it takes longer than {@link checkTimeoutMs}. */
async function answerOf(check: Promise<Fault | undefined>, silent: NotReady): Promise<Fault | undefined> {
  return await inTime(checkTimeoutMs, check, () => new Error('no answer')).catch((): Fault => {
    return { code: silent, words: `no answer within ${checkTimeoutMs} ms` }
  })
}

async function checkDatabase(app: App): Promise<Fault | undefined> {
  try {
    const pending = await pendingMigrations(app.pool)
    if (pending.length > 0) return { code: 'migrations_pending', words: pending.join(', ') }
    if (app.config.roles.has('worker') && !(await app.boss.isInstalled())) {
      return { code: 'job_queue_missing', words: 'the job queue is not installed' }
    }
    return undefined
  } catch (error) {
    return { code: 'database_unreachable', words: (error as Error).message }
  }
}

/** Writes to the disk of this machine, where the embedded database or the uploaded files are on it. */
async function checkDisk({ config }: App): Promise<Fault | undefined> {
  if (config.databaseUrl && config.mediaStore !== 'disk') return undefined
  try {
    await checkWritable(config.databaseUrl ? path.join(config.dataDir, 'media') : config.dataDir)
    return undefined
  } catch (error) {
    return { code: 'disk_unwritable', words: (error as Error).message }
  }
}
