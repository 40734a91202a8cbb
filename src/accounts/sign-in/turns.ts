// Fair queueing: a few turns at something costly, shared between those who ask for it.
import { type ErrorCode, fail, failFor, failure } from '../../core/errors.ts'

/** The party that a turn is counted for. */
export interface Asker<Queue extends string> {
  queue: Queue
  /** Parties of one queue share it equally, however much each of them asks for. */
  party: string
}

interface Bounds {
  /** Turns that one party has at a time: fewer than there are, so that no party holds all of them. */
  running: number
  /** Requests of one party that wait. */
  waiting: number
  /** Requests of the whole queue that wait. */
  inAll: number
  /** Told to a party of which as many wait as may. */
  full: Extract<ErrorCode, 'API_RATE_LIMIT_EXCEEDED' | 'SERVICE_UNAVAILABLE'>
}

export interface Turns<Queue extends string> {
  /**
   * Runs the work when it is the asker's turn.
   * @throws the queue's `full` where too many of this asker wait, SERVICE_UNAVAILABLE where too many others do.
   */
  take: <T>(asker: Asker<Queue>, work: () => Promise<T>) => Promise<T>
  /** Refuses an asker of whom as many wait as may, before anything else is done for the request. @throws the queue's `full`. */
  refuseIfFull: (asker: Asker<Queue>) => void
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
 * Lanes take turns, and so do the parties of each queue: a party that asks for little waits for about one turn of each other party,
 * not for all that they ask for. A full queue drops the newest request of its longest queue.
 */
export function createTurns<Queue extends string>(atOnce: number, queues: Record<Queue, Bounds>): Turns<Queue> {
  let running = 0
  // The order of each map is whose turn comes next.
  const parties = new Map<Queue, Map<string, Party>>((Object.keys(queues) as Queue[]).map((queue) => [queue, new Map()]))

  function partiesOf(queue: Queue): Map<string, Party> {
    return parties.get(queue) as Map<string, Party>
  }

  function next(): { asker: Asker<Queue>; party: Party } | undefined {
    for (const [queue, ofQueue] of parties) {
      for (const [name, party] of ofQueue) {
        if (party.waiting.length > 0 && party.running < queues[queue].running) return { asker: { queue, party: name }, party }
      }
    }
    return undefined
  }

  function startNext(): void {
    for (let found = running < atOnce && next(); found; found = running < atOnce && next()) {
      const { asker, party } = found
      const ofQueue = partiesOf(asker.queue)
      // To the end of both orders.
      parties.delete(asker.queue)
      parties.set(asker.queue, ofQueue)
      ofQueue.delete(asker.party)
      ofQueue.set(asker.party, party)
      running++
      party.running++
      party.waiting.shift()?.start()
    }
  }

  function forgetIfIdle({ queue, party: name }: Asker<Queue>, party: Party): void {
    if (party.running === 0 && party.waiting.length === 0) partiesOf(queue).delete(name)
  }

  function refuseIfFull({ queue, party }: Asker<Queue>): void {
    if ((partiesOf(queue).get(party)?.waiting.length ?? 0) < queues[queue].waiting) return
    failFor(1, queues[queue].full, 'Too many of these requests from here at once; try again shortly')
  }

  /** @throws SERVICE_UNAVAILABLE where no other party has more requests waiting than this one would have. */
  function makeRoom({ queue }: Asker<Queue>, mine: Party): void {
    const all = [...partiesOf(queue)]
    if (all.reduce((sum, [, { waiting }]) => sum + waiting.length, 0) < queues[queue].inAll) return
    const [name, longest] = all.reduce((one, other) => (other[1].waiting.length > one[1].waiting.length ? other : one))
    if (longest.waiting.length <= mine.waiting.length + 1) fail('SERVICE_UNAVAILABLE')
    longest.waiting.pop()?.refuse(failure('SERVICE_UNAVAILABLE'))
    forgetIfIdle({ queue, party: name }, longest)
  }

  return {
    refuseIfFull,
    async take(asker, work) {
      refuseIfFull(asker)
      const party = partiesOf(asker.queue).get(asker.party) ?? { running: 0, waiting: [] }
      makeRoom(asker, party)
      partiesOf(asker.queue).set(asker.party, party)
      await new Promise<void>((start, refuse) => {
        party.waiting.push({ start, refuse })
        startNext()
      })
      try {
        return await work()
      } finally {
        running--
        party.running--
        forgetIfIdle(asker, party)
        startNext()
      }
    },
  }
}
