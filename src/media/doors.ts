// Mounts the public addresses of media, which need no key.
import type { FastifyInstance } from 'fastify'
import type { App } from '../core/app.ts'
import { downloadByName } from './download.ts'
import { clearSpool } from './spool.ts'

/** Serves `/media/{token}.{extension}`; answers which methods the path takes. */
export async function mountMedia(http: FastifyInstance, app: App): Promise<Map<string, Set<string>>> {
  const cleared = await clearSpool(app.config.dataDir)
  if (cleared > 0) app.log.info({ cleared }, 'uploads of a process that died removed')
  http.route({
    method: ['GET', 'HEAD'],
    url: '/media/:name',
    handler: (request, reply) => downloadByName(app, request, reply),
  })
  return new Map([['/media/:name', new Set(['GET', 'HEAD'])]])
}
