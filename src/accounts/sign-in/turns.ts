// Fair queueing: shares a few turns at an expensive resource between the parties that ask for it.
import { type ErrorCode, fail, failFor, failure } from '../../core/errors.ts'

/** The party that a turn is counted for. */
export interface Requester<Queue extends string> {
  queue: Queue
  /** Parties of one queue share it equally, however many requests each of them makes. */
  party: string
}

interface Bounds {
  /** Maximum concurrent turns of one party. Set it below the total if no party may hold all turns. */
  running: number
  /** Maximum queued requests of one party. */
  waiting: number
  /** Maximum queued requests of the whole queue. */
  inAll: number
  /** Error code for a party that has the maximum of queued requests. */
  full: Extract<ErrorCode, 'API_RATE_LIMIT_EXCEEDED' | 'SERVICE_UNAVAILABLE'>
}

export interface Turns<Queue extends string> {
  /**
   * Runs the work in the requester's turn.
   * @throws the queue's `full` code when this requester has too many queued requests; SERVICE_UNAVAILABLE when others have too many.
   */
  take: <T>(requester: Requester<Queue>, work: () => Promise<T>) => Promise<T>
  /** Rejects a requester before any other work. @throws the queue's `full` code when the requester has the maximum of queued requests. */
  refuseIfFull: (requester: Requester<Queue>) => void
}

interface Waiting {
  start: () => void
  refuse: (error: unknown) => void
}

interface Party {
  running: number
  waiting: Waiting[]
}

/**
 * Round robin between the queues, and between the parties of each queue: a party with few requests waits for about one turn of each other
 * party, not for all of their requests. A full queue drops the newest request of the party that has the most queued.
 */
export function createTurns<Queue extends string>(atOnce: number, queues: Record<Queue, Bounds>): Turns<Queue> {
  let running = 0
  // The order of each map is the round-robin order: the first entry is next.
  const parties = new Map<Queue, Map<string, Party>>((Object.keys(queues) as Queue[]).map((queue) => [queue, new Map()]))

  function partiesOf(queue: Queue): Map<string, Party> {
    return parties.get(queue) as Map<string, Party>
  }

  function next(): { requester: Requester<Queue>; party: Party } | undefined {
    for (const [queue, ofQueue] of parties) {
      for (const [name, party] of ofQueue) {
        if (party.waiting.length > 0 && party.running < queues[queue].running) return { requester: { queue, party: name }, party }
      }
    }
    return undefined
  }

  function startNext(): void {
    for (let found = running < atOnce && next(); found; found = running < atOnce && next()) {
      const { requester, party } = found
      const ofQueue = partiesOf(requester.queue)
      // Moves both to the end of their order.
      parties.delete(requester.queue)
      parties.set(requester.queue, ofQueue)
      ofQueue.delete(requester.party)
      ofQueue.set(requester.party, party)
      running++
      party.running++
      party.waiting.shift()?.start()
    }
  }

  function forgetIfIdle({ queue, party: name }: Requester<Queue>, party: Party): void {
    if (party.running === 0 && party.waiting.length === 0) partiesOf(queue).delete(name)
  }

  function refuseIfFull({ queue, party }: Requester<Queue>): void {
    if ((partiesOf(queue).get(party)?.waiting.length ?? 0) < queues[queue].waiting) return
    failFor(1, queues[queue].full, 'Too many requests of this kind from this network at the same time; try again shortly')
  }

  /** Drops a request of another party if the queue is full. @throws SERVICE_UNAVAILABLE when no other party would have more queued. */
  function makeRoom({ queue }: Requester<Queue>, mine: Party): void {
    const all = [...partiesOf(queue)]
    if (all.reduce((sum, [, { waiting }]) => sum + waiting.length, 0) < queues[queue].inAll) return
    const [name, longest] = all.reduce((one, other) => (other[1].waiting.length > one[1].waiting.length ? other : one))
    if (longest.waiting.length <= mine.waiting.length + 1) fail('SERVICE_UNAVAILABLE')
    longest.waiting.pop()?.refuse(failure('SERVICE_UNAVAILABLE'))
    forgetIfIdle({ queue, party: name }, longest)
  }

  return {
    refuseIfFull,
    async take(requester, work) {
      refuseIfFull(requester)
      const party = partiesOf(requester.queue).get(requester.party) ?? { running: 0, waiting: [] }
      makeRoom(requester, party)
      partiesOf(requester.queue).set(requester.party, party)
      await new Promise<void>((start, refuse) => {
        party.waiting.push({ start, refuse })
        startNext()
      })
      try {
        return await work()
      } finally {
        running--
        party.running--
        forgetIfIdle(requester, party)
        startNext()
      }
    },
  }
}
