// Checks each connected number with its network.
import { oneLine } from '../core/one-line.ts'
import { inTime } from '../core/time-limit.ts'
import type { Provider, StoredInstance } from '../providers/provider.ts'
import { providerOf } from '../providers/providers.ts'
import { type Installation, openIdle } from './command-database.ts'
import { readConnected, readLeased } from './doctor.sql.ts'

/** Most numbers that are asked about. */
const mostNumbers = 100
/** Longest wait for the answer of a network. */
const answerMs = 10_000

interface CheckedNumber {
  provider: string
  /** Throws a sentence when the number cannot be used, else returns one. */
  check: () => Promise<string>
}

/** Calls `work` with the connected numbers whose networks can be asked, and how many more there are. */
export async function withNetworks(
  installation: Installation,
  work: (numbers: readonly CheckedNumber[], left: number) => Promise<void>,
): Promise<void> {
  await using app = await openIdle({ ...installation, config: { ...installation.config, logLevel: 'silent' } })
  const { instances, n } = await readConnected(app.pool, mostNumbers)
  const leased = await readLeased(
    app.pool,
    instances.map(({ id }) => id),
  )
  const checked = instances.map((instance) => ({
    provider: instance.provider,
    check: async () => {
      const provider = providerOf(app, instance.provider)
      const shown = `${oneLine(instance.name)} (${instance.waNumber ?? instance.id})`
      if (!provider) throw new Error(`${shown}: the provider is not installed on this server`)
      try {
        const answer = await ask(provider, instance, leased.has(instance.id))
        // A number can be connected although something else is wrong, such as its webhooks.
        if (instance.lastError) throw new Error(`${answer}; but ${instance.lastError}`)
        return `${shown}: ${answer}`
      } catch (error) {
        throw new Error(`${shown}: ${(error as Error).message}`)
      }
    },
  }))
  await work(checked, n - instances.length)
}

async function ask(provider: Provider, instance: StoredInstance, isLeased: boolean): Promise<string> {
  if (provider.check)
    return await inTime(answerMs, provider.check(instance), () => new Error('the network did not answer in time'))
  if (!provider.holds) return 'connected'
  if (!isLeased) throw new Error('no process holds its connection; is a gateway with the role worker running?')
  return 'connected; a process of the gateway holds its connection'
}
