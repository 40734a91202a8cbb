// A phone network in place of a phone: deterministic, durable, no account needed. What it does is in script.ts.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import type { Provider, ProviderEvents } from '../provider.ts'
import { exists } from './script.ts'
import { createSend } from './send.ts'
import { addSteps, changes, runDueSteps } from './steps.ts'

/** How often a process looks for steps that another one left. */
const idleMs = 1_000

/** In this time a caller's transaction has most likely committed; when not, the next look finds what it left. */
const commitMs = 10

export function createSandbox(app: App): Provider {
  let wake: (dueInMs: number) => void = () => {}
  const send = createSend(app, (ms) => wake(ms))
  return {
    name: 'sandbox',
    // `settings.clientReferences: false` plays a network that takes no reference of ours, as some real ones do.
    sendsOnce: (instance) => instance.settings.clientReferences !== false,
    reconcileMs: Math.max(1_000, 10 * app.config.sandboxLatencyMs),
    send: (instance, message) => send({ instance, message }),
    lookup: async (_, numbers) => numbers.map(exists),
    async connect({ id: instanceId, settings }, _, tx) {
      const { sandboxLatencyMs, sandboxSeed } = app.config
      if (settings.pairing !== true) return changes.connected(instanceId, sandboxSeed)
      await addSteps(tx, [{ instanceId, kind: 'connected', after: 1 }], sandboxLatencyMs)
      wake(sandboxLatencyMs + commitMs)
      return { status: 'pairing', qr: `sandbox://pair/${instanceId}`, pairingCode: 'SAND-BOX1' }
    },
    async logout(instance, tx) {
      await tx.query(`delete from sandbox_steps where "instanceId" = $1 and kind <> 'receipt'`, [instance.id])
    },
    async start(events) {
      const ending = new AbortController()
      const loop = run(app, events, ending.signal, (wakeUp) => {
        wake = wakeUp
      })
      return {
        async [Symbol.asyncDispose]() {
          ending.abort()
          wake(0)
          await loop
        },
      }
    },
  }
}

async function run(
  app: App,
  events: ProviderEvents,
  ending: AbortSignal,
  onWake: (wake: (dueInMs: number) => void) => void,
): Promise<void> {
  while (!ending.aborted) {
    let timer: NodeJS.Timeout | undefined
    let dueAt = Number.POSITIVE_INFINITY
    const news = Promise.withResolvers<void>()
    const wakeIn = (ms: number) => {
      if (Date.now() + ms >= dueAt) return
      dueAt = Date.now() + ms
      clearTimeout(timer)
      timer = setTimeout(news.resolve, ms)
    }
    // Set before the look, so that what is added during it is not slept through.
    onWake(wakeIn)
    try {
      wakeIn(await runDueSteps(app, events, idleMs))
    } catch (error) {
      app.log.warn({ err: (error as Error).message }, 'sandbox network interrupted')
      await pause(idleMs)
      wakeIn(0)
    }
    if (!ending.aborted) await news.promise
    clearTimeout(timer)
  }
}
