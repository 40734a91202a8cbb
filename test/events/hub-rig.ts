// Setup for tests of the hub: a hub in this process, and streams that it feeds.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { App } from '../../src/core/app.ts'
import type { BoundedWriter } from '../../src/events/live/bounded-writer.ts'
import type { Entry } from '../../src/events/live/entry.ts'
import { type Followed, type Hub, type LogView, startHub } from '../../src/events/live/fanout.ts'
import { distinctFrame, hello } from '../../src/events/live/frames.ts'
import { markedOf } from '../../src/events/log/cursor.ts'
import type { LogEvent } from '../../src/events/log/log.ts'
import { createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { newPlace, numberOf, openApp, openRelay, type Place, wholeLog } from './rig.ts'
import { openSse, type SseReader } from './sse.ts'

export interface HubRig {
  databaseUrl: string
  app: App
  hub: Hub
  place: Place
  /** The responses of all streams, in the order in which they were opened. */
  responses: http.ServerResponse[]
  /** Opens a stream; resolves when `follow` has made its writer follow something. */
  open: (follow: (writer: BoundedWriter) => Followed | Promise<Followed>) => Promise<SseReader>
  /** Opens a stream that follows a view of the log, from the current end if no cursor is given. */
  followLog: (view: LogView, cursor?: bigint) => Promise<SseReader>
}

/** The rig ends with the test. */
export async function openHub(): Promise<HubRig> {
  const databaseUrl = await cloneDatabase()
  const app = await openApp(databaseUrl)
  await openRelay(app)
  const hub = await startHub(app, () => {})
  const { userId } = await createAccount(databaseUrl)
  const { id: credentialId } = await app.db.apiKey.findFirstOrThrow({ where: { userId } })
  const responses: http.ServerResponse[] = []
  const connections: ((response: http.ServerResponse) => void)[] = []
  const server = http.createServer((request, response) => connections[Number(request.url?.slice(1))]?.(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  atEnd('test', async () => {
    await hub[Symbol.asyncDispose]()
    server.closeAllConnections()
    server.close()
  })

  const open: HubRig['open'] = async (follow) => {
    let followed: Followed | undefined
    const index = connections.push((response) => {
      responses.push(response)
      const writer = hub.makeWriter({
        owner: { kind: 'personal', userId, credentialId, teamId: null, role: null },
        heartbeat: () => ':\n\n',
        farewell: () => '',
        closed: () => followed?.stop(),
      })
      writer.attach(response, {}, hello())
      void Promise.resolve(follow(writer)).then((it) => {
        followed = it
      })
    })
    const reader = await openSse(`http://127.0.0.1:${port}/${index - 1}`)
    await until(() => followed)
    return reader
  }
  return {
    databaseUrl,
    app,
    hub,
    place: newPlace(),
    responses,
    open,
    async followLog(view, cursor) {
      const start = cursor ?? BigInt((await wholeLog(databaseUrl)).length)
      return await open((writer) =>
        hub.followLog(view, { writer, frame: distinctFrame, cursor: start, sent: { seq: start, mark: undefined } }),
      )
    },
  }
}

export interface CountedView extends LogView {
  /** How often each event was rendered, by its `n`. */
  rendered: Map<number, number>
}

/** A view of the place's events that counts renderings, and fails for the events that `fails` selects. */
export function countedView(place: Place, key: string, fails: (n: number) => boolean = () => false): CountedView {
  const rendered = new Map<number, number>()
  async function render(events: readonly LogEvent[]): Promise<Entry[]> {
    return events.map(({ seq, id, type, payload }) => {
      const n = numberOf(payload)
      rendered.set(n, (rendered.get(n) ?? 0) + 1)
      if (fails(n)) throw new Error('out of reach')
      return { ...markedOf({ seq, id }), cursor: String(seq), name: type, body: payload }
    })
  }
  return { key, workspaceId: place.workspaceId, filter: {}, render, rendered }
}
