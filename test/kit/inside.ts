// Loaded into a gateway under test: at SIGUSR2 it collects its garbage and writes what it still holds.
import { setImmediate as turn } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { LogTopic } from '../../src/events/log-topic.ts'
import { Outlet } from '../../src/events/outlet.ts'
import { StateTopic } from '../../src/events/state-topic.ts'

export interface Holdings {
  /** With what buffers hold outside of it. */
  heapBytes: number
  rssBytes: number
  /** Ends of streams, and what they follow. */
  outlets: number
  topics: number
}

let looks = 0

process.on('SIGUSR2', async () => {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    // What is freed may free more in the next turn.
    await turn()
  }
  const { heapUsed, external, rss: rssBytes } = process.memoryUsage()
  const count = (kind: object) => queryObjects(kind as () => void, { format: 'count' }) as unknown as number
  const holdings: Holdings = {
    heapBytes: heapUsed + external,
    rssBytes,
    outlets: count(Outlet),
    topics: count(LogTopic) + count(StateTopic),
  }
  console.log(`look ${++looks}: ${JSON.stringify(holdings)}`)
})
