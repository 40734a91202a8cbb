// The server of HEALTH_PORT: probes and metrics of a process of any roles, and nothing else.
import type { App } from '../core/app.ts'
import { listenOn } from '../core/network/listening.ts'
import { createHttp, refuseUnknown } from './create.ts'
import { mountHealth } from './health.ts'

/** Beside the three quarters of the server of PORT, this leaves an eighth for the database, media and webhooks. */
const shareOfFiles = 0.125

export interface HealthServer extends AsyncDisposable {
  /** Resolves with `http://HOST:HEALTH_PORT`. @throws EADDRINUSE when the port is taken, and other listen errors. */
  listen: () => Promise<string>
}

/** Creates the server of that port, which does not listen yet. */
export async function createHealthServer(app: App, port: number): Promise<HealthServer> {
  const http = await createHttp(app, shareOfFiles)
  refuseUnknown(http, mountHealth(http, app))
  return {
    listen: () => listenOn(http, app.config, { port, variable: 'HEALTH_PORT' }),
    [Symbol.asyncDispose]: () => http.close(),
  }
}
