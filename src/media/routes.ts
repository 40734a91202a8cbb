// Mounts the public URLs of media, which need no credential, and clears abandoned uploads from the spool.
import type { FastifyInstance } from 'fastify'
import type { App } from '../core/app.ts'
import { hourMs } from '../core/durations.ts'
import { downloadByName } from './download.ts'
import { clearSpool } from './spool.ts'

const clearEveryMs = hourMs

/** Serves `/media/{token}.{extension}`. Returns the methods that the path supports. */
export async function mountMedia(http: FastifyInstance, app: App): Promise<Map<string, Set<string>>> {
  async function clear(): Promise<void> {
    const cleared = await clearSpool(app.config.dataDir)
    if (cleared > 0) app.log.info({ cleared }, 'uploads of a process that died removed')
  }
  await clear()
  const timer = setInterval(() => {
    clear().catch((error: Error) => app.log.warn({ err: error }, 'uploads of a process that died could not be removed'))
  }, clearEveryMs).unref()
  http.addHook('onClose', async () => clearInterval(timer))
  http.route({
    method: ['GET', 'HEAD'],
    url: '/media/:name',
    handler: (request, reply) => downloadByName(app, request, reply),
  })
  return new Map([['/media/:name', new Set(['GET', 'HEAD'])]])
}
