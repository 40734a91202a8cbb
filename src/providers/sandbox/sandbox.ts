// Sandbox provider: a simulated phone network, deterministic, durable, without an account. Its behaviour is in script.ts.
import type { App } from '../../core/app.ts'
import type { Provider } from '../provider.ts'
import { type Clock, startClock } from './clock.ts'
import { addSteps, cancelSteps } from './sandbox.sql.ts'
import { exists } from './script.ts'
import { createSend } from './send.ts'
import { changes } from './steps.ts'

/** Time in which the transaction of the calling function has most likely committed. If it has not, the next poll finds its steps. */
const commitMs = 10

export function createSandbox(app: App): Provider {
  let clock: Clock | undefined
  const wake = (dueInMs: number) => clock?.wakeIn(dueInMs)
  const send = createSend(app, wake)
  return {
    name: 'sandbox',
    // `settings.clientReferences: false` simulates a network that does not deduplicate by our reference, like some real ones.
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
      await cancelSteps(tx, instance.id)
    },
    async start(events) {
      clock = startClock(app, events)
      return clock
    },
  }
}
