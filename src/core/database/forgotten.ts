// Finds half-open connections: the client waits for an answer, but the server runs no statement for it.
// A time limit alone would have to be longer than the longest statement, so the server is asked instead.
import type { Socket } from 'node:net'
import type pg from 'pg'
import { startLoop, wait } from '../loop.ts'
import { connectTo } from './dedicated.ts'

export interface ForgottenWatch extends AsyncDisposable {
  /** Watches a connection until it ends. It must not lead through a pooler, which hides the process of the server. */
  add: (client: pg.ClientBase) => void
}

interface Watched {
  client: pg.ClientBase
  stream: Socket
  /** Id of the server's process. */
  pid: number
  bytesRead: number
  /** When the last byte arrived. */
  heardAt: number
  /** Since when a statement waits without a byte of an answer; undefined while none does. */
  silentSince: number | undefined
  /** How often in a row the server said that it does nothing for this connection. */
  denials: number
}

interface Internals {
  connection: { stream: Socket }
  processID: number
  readyForQuery: boolean
}

const everyMs = 1_000
/** A connection that waits longer for an answer is checked. Most statements are answered before. */
const suspiciousMs = 2_000
/** Twice, because the answer may just have been on its way. */
const denialsNeeded = 2
const probeMs = 2_000

/**
 * Watches connections to the database at `url`. A forgotten one is destroyed after 4 s, and with it those that have received nothing since:
 * they are most likely forgotten too. While the server cannot be asked, nothing is concluded.
 */
export function watchForgotten(url: string): ForgottenWatch {
  const all = new Set<Watched>()
  const loop = startLoop(async (stop) => {
    while (!stop.aborted) {
      await wait(everyMs, stop)
      const now = performance.now()
      for (const each of all) readTraffic(each, now)
      const suspects = [...all].filter(({ silentSince }) => silentSince !== undefined && now - silentSince >= suspiciousMs)
      if (suspects.length > 0) await judge(suspects)
    }
  })

  async function judge(suspects: readonly Watched[]): Promise<void> {
    const busy = await readBusy(
      url,
      suspects.map(({ pid }) => pid),
    ).catch(() => undefined)
    if (!busy) return
    const now = performance.now()
    for (const each of suspects) {
      readTraffic(each, now)
      each.denials = each.silentSince === undefined || busy.has(each.pid) ? 0 : each.denials + 1
      if (each.denials < denialsNeeded) continue
      const since = each.silentSince as number
      for (const other of all) if (other === each || (isIdle(other) && other.heardAt < since)) other.stream.destroy()
    }
  }

  return {
    ...loop,
    add(client) {
      const { connection, processID: pid } = client as pg.ClientBase & Internals
      const { stream } = connection
      const watched = { client, stream, pid, bytesRead: -1, heardAt: 0, silentSince: undefined, denials: 0 }
      all.add(watched)
      stream.once('close', () => all.delete(watched))
    },
  }
}

/** Updates the times from the bytes that arrived. */
function readTraffic(each: Watched, now: number): void {
  const { bytesRead } = each.stream
  if (bytesRead !== each.bytesRead) each.heardAt = now
  if (isIdle(each) || bytesRead !== each.bytesRead) each.silentSince = undefined
  else each.silentSince ??= now
  each.bytesRead = bytesRead
}

function isIdle({ client }: Watched): boolean {
  return (client as pg.ClientBase & Internals).readyForQuery
}

/** Those of these server processes that work for their client, as far as the server says. */
async function readBusy(url: string, pids: readonly number[]): Promise<Set<number>> {
  await using connection = await connectTo(url, 'gateway-probe', probeMs)
  const { rows } = await connection.client.query<{ pid: number }>(
    `select pid from pg_stat_activity where pid = any($1::int[]) and (state is null or state not like 'idle%')`,
    [pids],
  )
  return new Set(rows.map(({ pid }) => pid))
}
