// Sandbox provider: a simulated phone network, deterministic, durable, without an account. Its behaviour is in script.ts.
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { defineProvider } from '../define-provider.ts'
import type { Connector, ProviderInstance } from '../provider.ts'
import { type Clock, startClock } from './clock.ts'
import { changes } from './moves.ts'
import { addSteps, cancelSteps, deleteMessages } from './sandbox.sql.ts'
import { exists } from './script.ts'
import { createSend } from './send.ts'

/** Time in which the transaction of the calling function has most likely committed. If it has not, the next poll finds its steps. */
const commitMs = 10

/** The sandbox ignores values that mean nothing to it, and settings that it does not know. */
const settings = z.looseObject({
  /** `true`: an instance shows a QR code before it connects. */
  pairing: z.unknown().optional(),
  /** `false`: simulates a network that does not deduplicate by our id, like some real ones. */
  clientReferences: z.unknown().optional(),
  /** A number of milliseconds: simulates a network that hangs for so long on each message before it takes it, at most a minute. */
  hangMs: z.unknown().optional(),
})

const longestHangMs = 60_000

type Instance = ProviderInstance<z.output<typeof settings>>

export const sandbox = defineProvider({ name: 'sandbox', settings, secrets: {}, open: openSandbox })

function openSandbox(app: App): Connector<Instance, Instance> {
  let clock: Clock | undefined
  const wake = (dueInMs: number) => clock?.wakeIn(dueInMs)
  const send = createSend(app, wake)
  return {
    sendsOnce: (instance) => instance.settings.clientReferences !== false,
    reconcileMs: Math.max(1_000, 10 * app.config.sandboxLatencyMs),
    async send({ id: instanceId, settings: { hangMs } }, message) {
      if (typeof hangMs === 'number' && hangMs > 0) await pause(Math.min(hangMs, longestHangMs), undefined, { ref: false })
      return await send({ instanceId, message })
    },
    lookup: async (_, numbers) => numbers.map(exists),
    async connect({ id: instanceId, settings }, _, tx) {
      const { sandboxLatencyMs, sandboxSeed } = app.config
      if (settings.pairing !== true) return changes.connected(instanceId, sandboxSeed)
      await addSteps(tx, [{ instanceId, kind: 'connected', after: 1 }], sandboxLatencyMs)
      wake(sandboxLatencyMs + commitMs)
      return { status: 'pairing', qr: `sandbox://pair/${instanceId}`, pairingCode: 'SAND-BOX1' }
    },
    async logout({ id }, tx) {
      await cancelSteps(tx, id)
    },
    forget: (messages, tx) =>
      deleteMessages(
        tx,
        messages.map(({ id }) => id),
      ),
    async start(host) {
      clock = startClock(app, host)
      return clock
    },
  }
}
