// Tells the other processes, and operators, that this process lives.
import os from 'node:os'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { inTime } from '../core/time-limit.ts'
import { version } from '../core/version.ts'
import { deleteNode, type NodeRow, readNodes, storeNode } from './nodes.sql.ts'

/** How often a process says that it lives. */
const heartbeatMs = 15_000
/** A process that was silent for longer counts as dead. */
const aliveMs = 3 * heartbeatMs
const leaveMs = 500

/** Says so until disposed. A failure is made up for by the next time. */
export async function startNode(app: App): Promise<AsyncDisposable> {
  const { node: id, config, pool, metrics, log } = app
  async function sendHeartbeat(): Promise<void> {
    const openStreams = (await metrics.openStreams.get()).values[0]?.value ?? 0
    await storeNode(pool, { id, roles: [...config.roles], version, host: os.hostname(), pid: process.pid, openStreams })
  }
  let inProgress: Promise<void> | undefined
  const timer = setInterval(() => {
    inProgress ??= sendHeartbeat()
      .catch((error: Error) => log.warn({ err: error.message }, 'the process could not say that it lives; trying again'))
      .finally(() => {
        inProgress = undefined
      })
  }, heartbeatMs).unref()
  await sendHeartbeat()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      // A database that does not answer must not delay the end of the process.
      const left = Promise.resolve(inProgress).then(() => deleteNode(pool, id))
      await inTime(leaveMs, left, () => new Error('no answer')).catch(() => {})
    },
  }
}

export async function listNodes({ pool }: { pool: Sql }): Promise<NodeRow[]> {
  return await readNodes(pool, aliveMs)
}
