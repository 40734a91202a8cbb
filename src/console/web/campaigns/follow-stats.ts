// Follows the counters of one campaign: by a stream while the window is in sight, and by questions where the browser has none left.
import { useEffect, useState } from 'react'
import { StatsDocument, StatsLiveDocument, type StatsRowFragment } from '../generated/campaigns/graphql.ts'
import { pollLoop } from '../graph/poll-loop.ts'
import { ask, type Team } from '../graph/request.ts'
import { readStream } from '../live/read.ts'
import { retryAfterMs } from '../live/retry.ts'
import { openSlots } from '../live/stream-slots.ts'
import { useWorkspace } from '../shell/workspace-context.ts'

/** The time in which other windows say which streams they hold. */
const askMs = 60
const pollMs = 2_000

/** The counters as they are now; `first` until they were heard of. */
export function useStats(first: StatsRowFragment): StatsRowFragment {
  const { team } = useWorkspace()
  const [heard, setHeard] = useState<StatsRowFragment | null>(null)
  const { id } = first
  useEffect(() => {
    setHeard(null)
    return followStats(team, id, setHeard)
  }, [team, id])
  return heard ?? first
}

/** Calls `received` with the counters now and after every change, until the returned function is called. */
function followStats(team: Team, id: string, received: (stats: StatsRowFragment) => void): () => void {
  let stream: AbortController | null = null
  let stopped = false
  let failures = 0
  let timer: ReturnType<typeof setTimeout>
  const slots = openSlots(look)
  const poll = pollLoop(read, look, pollMs)

  /** Opens or closes the stream, as the window and the other windows allow. */
  function look(): void {
    clearTimeout(timer)
    const seen = !stopped && document.visibilityState === 'visible'
    const free = slots.free()
    if (!seen || !free) close()
    if (seen && free && !stream) open()
    if (seen && !free) poll.ask()
  }

  function close(): void {
    stream?.abort()
    stream = null
    slots.release()
  }

  function open(): void {
    slots.take()
    const mine = new AbortController()
    stream = mine
    const ended = readStream({
      team,
      document: StatsLiveDocument,
      variables: { id },
      signal: mine.signal,
      received({ campaignStats }) {
        failures = 0
        received(campaignStats)
      },
    })
    void ended.then(() => {
      if (stream !== mine) return
      close()
      timer = setTimeout(look, retryAfterMs(++failures))
    })
  }

  async function read(): Promise<void> {
    const answer = await ask(team, StatsDocument, { id }).catch(() => null)
    if (stopped) return
    if (answer?.campaign) received(answer.campaign.stats)
  }

  timer = setTimeout(look, askMs)
  document.addEventListener('visibilitychange', look)
  window.addEventListener('pagehide', close)
  function stop(): void {
    stopped = true
    clearTimeout(timer)
    poll.stop()
    close()
    slots.close()
    document.removeEventListener('visibilitychange', look)
    window.removeEventListener('pagehide', close)
  }
  return stop
}
