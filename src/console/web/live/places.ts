// Limits the streams of one browser, over all of its windows. Browsers open six HTTP/1.1 connections to an origin; a stream takes one
// for good. Windows that get no place ask for new events now and then. Needs neither Web Locks nor a secure context.

/** Streams of one browser at the same time. */
const mostStreams = 3
const beatMs = 1_000
/** A window that was not heard for so long has gone. */
const silentMs = 3_500

interface Note {
  kind: 'ask' | 'hold' | 'leave'
  id: string
}

export interface Places {
  /** True if this window may hold a stream: fewer than three older ones do. */
  free: () => boolean
  /** Announces that this window opens a stream. */
  hold: () => void
  leave: () => void
  close: () => void
}

/** `changed` is called when the answer of `free` may have changed. */
export function openPlaces(changed: () => void): Places {
  const channel = new BroadcastChannel('live-streams')
  // Ordered by the time of opening.
  const me = `${Date.now()}-${Math.random()}`
  const others = new Map<string, number>()
  let holding = false
  const say = (kind: Note['kind']) => channel.postMessage({ kind, id: me } satisfies Note)

  channel.onmessage = ({ data: { kind, id } }: MessageEvent<Note>) => {
    if (kind === 'ask') {
      if (holding) say('hold')
      return
    }
    const known = others.has(id)
    if (kind === 'hold') others.set(id, Date.now())
    else others.delete(id)
    if (known !== others.has(id)) changed()
  }
  const timer = setInterval(() => {
    if (holding) say('hold')
    const before = others.size
    for (const [id, heard] of others) if (Date.now() - heard > silentMs) others.delete(id)
    if (others.size < before) changed()
  }, beatMs)
  say('ask')

  function leave(): void {
    if (holding) say('leave')
    holding = false
  }
  return {
    free: () => [...others.keys()].filter((id) => id < me).length < mostStreams,
    hold() {
      holding = true
      say('hold')
    },
    leave,
    close() {
      leave()
      clearInterval(timer)
      channel.close()
    },
  }
}
