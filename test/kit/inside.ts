// Loaded into a gateway under test: at SIGUSR2 it collects its garbage and writes what it still holds.
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

process.on('SIGUSR2', () => {
  // Collects garbage before it counts.
  const count = (kind: object) => queryObjects(kind as () => void, { format: 'count' }) as unknown as number
  const [outlets, topics] = [count(Outlet), count(LogTopic) + count(StateTopic)]
  const { heapUsed, external, rss: rssBytes } = process.memoryUsage()
  const holdings: Holdings = { heapBytes: heapUsed + external, rssBytes, outlets, topics }
  console.log(`look ${++looks}: ${JSON.stringify(holdings)}`)
})
