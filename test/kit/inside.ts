// Loaded into a gateway under test: at SIGUSR2 it collects garbage and prints what memory and objects remain.
import { setImmediate as turn } from 'node:timers/promises'
import { BoundedWriter } from '../../src/events/live/bounded-writer.ts'
import { LogTopic } from '../../src/events/live/log-topic.ts'
import { StateTopic } from '../../src/events/live/state-topic.ts'

export interface Holdings {
  /** Includes the memory of buffers outside the heap. */
  heapBytes: number
  rssBytes: number
  /** The live stream writers, and the topics that they follow. */
  writers: number
  topics: number
  /**
   * The most processor time, in ms, that the main thread spent between two turns of the event loop since the previous look: how
   * long it kept others waiting, independent of other load on the machine.
   */
  heldMs: number
}

/** Counts the live objects on which a method was called, without keeping them alive. */
function countOf<Name extends string>(prototype: Record<Name, (...args: never[]) => unknown>, method: Name): () => number {
  const met = new Set<WeakRef<object>>()
  const known = new WeakSet<object>()
  const original = prototype[method]
  prototype[method] = function (this: object, ...args: never[]) {
    if (!known.has(this)) met.add(new WeakRef(this))
    known.add(this)
    return original.apply(this, args)
  }
  return () => {
    for (const ref of met) if (!ref.deref()) met.delete(ref)
    return met.size
  }
}

const writers = countOf(BoundedWriter.prototype, 'attach')
const logTopics = countOf(LogTopic.prototype, 'add')
const stateTopics = countOf(StateTopic.prototype, 'add')
let looks = 0

let held = 0
let before = process.threadCpuUsage()
setInterval(() => {
  const now = process.threadCpuUsage()
  held = Math.max(held, now.user - before.user + now.system - before.system)
  before = now
}, 5).unref()

process.on('SIGUSR2', async () => {
  const heldMs = held / 1000
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.()
    // Freed objects may release more in the next turn.
    await turn()
  }
  const { heapUsed, external, rss: rssBytes } = process.memoryUsage()
  const holdings: Holdings = {
    heapBytes: heapUsed + external,
    rssBytes,
    writers: writers(),
    topics: logTopics() + stateTopics(),
    heldMs,
  }
  before = process.threadCpuUsage()
  held = 0
  console.log(`look ${++looks}: ${JSON.stringify(holdings)}`)
})
