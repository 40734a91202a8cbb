// Fair queueing: a few turns at something costly, shared between those who ask for it.
import { type ErrorCode, fail, failFor, failure } from '../../core/errors.ts'

/** The party that a turn is counted for. */
export interface Asker<Lane extends string> {
  lane: Lane
  /** Parties of one lane share it equally, however much each of them asks for. */
  party: string
}

interface Bounds {
  /** Turns that one party has at a time: fewer than there are, so that no party holds all of them. */
  running: number
  /** Requests of one party that wait. */
  waiting: number
  /** Requests of the whole lane that wait. */
  inAll: number
  /** Told to a party of which as many wait as may. */
  full: Extract<ErrorCode, 'API_RATE_LIMIT_EXCEEDED' | 'SERVICE_UNAVAILABLE'>
}

export interface Turns<Lane extends string> {
  /**
   * Runs the work when it is the asker's turn.
   * @throws the lane's `full` where too many of this asker wait, SERVICE_UNAVAILABLE where too many others do.
   */
  take: <T>(asker: Asker<Lane>, work: () => Promise<T>) => Promise<T>
  /** Refuses an asker of whom as many wait as may, before anything else is done for the request. @throws the lane's `full`. */
  refuseIfFull: (asker: Asker<Lane>) => void
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
 * Lanes take turns, and so do the parties of each lane: a party that asks for little waits for about one turn of each other party,
 * not for all that they ask for. A full lane drops the newest request of its longest queue.
 */
export function createTurns<Lane extends string>(atOnce: number, lanes: Record<Lane, Bounds>): Turns<Lane> {
  let running = 0
  // The order of each map is whose turn comes next.
  const parties = new Map<Lane, Map<string, Party>>((Object.keys(lanes) as Lane[]).map((lane) => [lane, new Map()]))

  function partiesOf(lane: Lane): Map<string, Party> {
    return parties.get(lane) as Map<string, Party>
  }

  function next(): { asker: Asker<Lane>; party: Party } | undefined {
    for (const [lane, ofLane] of parties) {
      for (const [name, party] of ofLane) {
        if (party.waiting.length > 0 && party.running < lanes[lane].running) return { asker: { lane, party: name }, party }
      }
    }
    return undefined
  }

  function startNext(): void {
    for (let found = running < atOnce && next(); found; found = running < atOnce && next()) {
      const { asker, party } = found
      const ofLane = partiesOf(asker.lane)
      // To the end of both orders.
      parties.delete(asker.lane)
      parties.set(asker.lane, ofLane)
      ofLane.delete(asker.party)
      ofLane.set(asker.party, party)
      running++
      party.running++
      party.waiting.shift()?.start()
    }
  }

  function forgetIfIdle({ lane, party: name }: Asker<Lane>, party: Party): void {
    if (party.running === 0 && party.waiting.length === 0) partiesOf(lane).delete(name)
  }

  function refuseIfFull({ lane, party }: Asker<Lane>): void {
    if ((partiesOf(lane).get(party)?.waiting.length ?? 0) < lanes[lane].waiting) return
    failFor(1, lanes[lane].full, 'Too many of these requests from here at once; try again shortly')
  }

  /** @throws SERVICE_UNAVAILABLE where no other party has more requests waiting than this one would have. */
  function makeRoom({ lane }: Asker<Lane>, mine: Party): void {
    const all = [...partiesOf(lane)]
    if (all.reduce((sum, [, { waiting }]) => sum + waiting.length, 0) < lanes[lane].inAll) return
    const [name, longest] = all.reduce((one, other) => (other[1].waiting.length > one[1].waiting.length ? other : one))
    if (longest.waiting.length <= mine.waiting.length + 1) fail('SERVICE_UNAVAILABLE')
    longest.waiting.pop()?.refuse(failure('SERVICE_UNAVAILABLE'))
    forgetIfIdle({ lane, party: name }, longest)
  }

  return {
    refuseIfFull,
    async take(asker, work) {
      refuseIfFull(asker)
      const party = partiesOf(asker.lane).get(asker.party) ?? { running: 0, waiting: [] }
      makeRoom(asker, party)
      partiesOf(asker.lane).set(asker.party, party)
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
