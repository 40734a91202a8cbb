// Limits the streams of one browser, over all of its windows. Browsers open six HTTP/1.1 connections to an origin; a stream takes one
// for as long as it lasts. Windows that get no slot ask for new events now and then. Needs neither Web Locks nor a secure context.

/** Streams of one browser at the same time. */
const mostStreams = 3
const heartbeatMs = 1_000
/** A window that was not heard for so long has gone. */
const silentMs = 3_500

interface Note {
  kind: 'ask' | 'take' | 'release'
  id: string
}

export interface Slots {
  /** True if this window may open a stream: fewer than three older ones do. */
  free: () => boolean
  /** Announces that this window opens a stream. */
  take: () => void
  release: () => void
  close: () => void
}

/** `changed` is called when the answer of `free` may have changed. */
export function openSlots(changed: () => void): Slots {
  const channel = new BroadcastChannel('live-streams')
  // Ordered by the time of opening.
  const me = `${Date.now()}-${Math.random()}`
  const others = new Map<string, number>()
  let holding = false
  const say = (kind: Note['kind']) => channel.postMessage({ kind, id: me } satisfies Note)

  channel.onmessage = ({ data: { kind, id } }: MessageEvent<Note>) => {
    if (kind === 'ask') {
      if (holding) say('take')
      return
    }
    const known = others.has(id)
    if (kind === 'take') others.set(id, Date.now())
    else others.delete(id)
    if (known !== others.has(id)) changed()
  }
  const timer = setInterval(() => {
    if (holding) say('take')
    const before = others.size
    for (const [id, heard] of others) if (Date.now() - heard > silentMs) others.delete(id)
    if (others.size < before) changed()
  }, heartbeatMs)
  say('ask')

  function release(): void {
    if (holding) say('release')
    holding = false
  }
  return {
    free: () => [...others.keys()].filter((id) => id < me).length < mostStreams,
    take() {
      holding = true
      say('take')
    },
    release,
    close() {
      release()
      clearInterval(timer)
      channel.close()
    },
  }
}
