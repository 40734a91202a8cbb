// The partitions of the event log: ranges of its numbers, made ahead by the relay and dropped when all of their events have expired.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { addPartition, readFrom, readPartitions } from './partitions.sql.ts'

/** A partition is added when fewer numbers than this are left: 100 s of the fastest relay that was measured. */
const spare = 1_000_000n
const smallest = 1_000_000
/** Few enough partitions to plan and lock quickly, however many events there are. */
const largest = 50_000_000

const retryMs = 10_000

/** The numbers of a day, in whole millions, for `count` numbers given in `seconds`: then at most about 33 partitions are kept. */
export function partitionSize(count: number, seconds: number): bigint {
  const daily = Math.ceil((count * 86_400) / Math.max(seconds, 1) / smallest) * smallest
  return BigInt(Math.min(Math.max(daily, smallest), largest))
}

/** Keeps numbers free for the relay, which awaits `ensure` outside a transaction before it gives more numbers. One for each leadership. */
export function createRoom(sql: Sql, log: App['log']): { ensure: (last: bigint) => Promise<void> } {
  let end: bigint | undefined
  let retryAt = 0
  return {
    /** Adds a partition if the last one is nearly full. A failure is logged, and the next call after ten seconds tries again. */
    async ensure(last) {
      if ((end !== undefined && last + spare < end) || Date.now() < retryAt) return
      try {
        end = (await readPartitions(sql)).at(-1)?.to ?? 0n
        if (last + spare >= end) end = await add(end, last)
      } catch (error) {
        retryAt = Date.now() + retryMs
        log.error({ err: error, last, end }, 'no partition was added to the event log; trying again')
      }
    },
  }

  async function add(from: bigint, last: bigint): Promise<bigint> {
    const recent = await readFrom(sql, last > spare ? last - spare : 1n)
    const to = from + partitionSize(recent ? Number(last - recent.seq) : 0, recent?.age ?? 0)
    await addPartition(sql, from, to)
    log.info({ from, to }, 'partition added to the event log')
    return to
  }
}
