// A subscription whose answers are large costs few tries an event, and renders many together again once they are small. Many subscriptions leave
// turns to everything else.
import { beforeAll, expect, it } from 'vitest'
import type { Context } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import { createPrepare } from '../../src/events/live/operation.ts'
import type { LogEvent } from '../../src/events/log/log.ts'
import { createGraph } from '../../src/http/graph.ts'
import { schema } from '../../src/schema.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openWorkspace } from '../messages/rig.ts'

let ctx: Context
let executed = 0

beforeAll(async () => {
  ctx = (await openWorkspace(await cloneDatabase())).ctx
})

async function viewOf(query: string) {
  const prepared = await createPrepare(createGraph(ctx.app, schema))({ query }, ctx)
  if (prepared.kind !== 'log') throw new Error(JSON.stringify(prepared))
  return prepared.view
}

function eventsOf(count: number, padding: string): LogEvent[] {
  return Array.from({ length: count }, (_, n) => ({
    seq: BigInt(n + 1),
    id: newId(),
    workspaceId: ctx.principal.workspaceId,
    type: 'message.sent',
    instanceId: null,
    messageId: null,
    campaignId: null,
    get payload() {
      executed++
      return JSON.stringify({ n, padding })
    },
    createdAt: new Date(),
  }))
}

it('large events are tried about twice each, and small ones are rendered together again', async () => {
  const { render } = await viewOf('subscription { events { payload } }')
  /** Renders all events, and returns the number of calls that it took. */
  const renderAll = async (events: LogEvent[]) => {
    let calls = 0
    for (let sent = 0; sent < events.length; calls++) {
      const entries = await render(events.slice(sent))
      expect(JSON.parse(entries[0]?.body ?? '').data.events.payload.n).toBe(sent)
      sent += entries.length
    }
    return calls
  }
  await renderAll(eventsOf(40, 'x'.repeat(1_100_000)))
  expect(executed).toBeLessThanOrEqual(200)
  expect(await renderAll(eventsOf(256, ''))).toBeLessThanOrEqual(10)
  expect(await renderAll(eventsOf(256, ''))).toBe(4)
})

it('twenty subscriptions that render many events at once leave four turns of the event loop to others between two of them', async () => {
  const views = await Promise.all(Array.from({ length: 20 }, (_, n) => viewOf(`subscription { events { a${n}: payload } }`)))
  let turns = 0
  let counting = true
  const count = () => {
    turns++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(views.map(({ render }) => render(eventsOf(50, ''))))
  counting = false
  expect(turns).toBeGreaterThanOrEqual(4 * 19)
})
