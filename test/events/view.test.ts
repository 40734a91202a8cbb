// A subscription whose answers are large costs few tries an event, and renders many together again once they are small.
import { expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { createPrepare } from '../../src/events/live/operation.ts'
import type { LogEvent } from '../../src/events/log/log.ts'
import { createGraph } from '../../src/http/graph.ts'
import { schema } from '../../src/schema.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openWorkspace } from '../messages/rig.ts'

it('large events are tried about twice each, and small ones are rendered together again', async () => {
  const { app, ctx } = await openWorkspace(await cloneDatabase())
  const prepared = await createPrepare(createGraph(app, schema))({ query: 'subscription { events { payload } }' }, ctx)
  if (prepared.kind !== 'log') throw new Error(JSON.stringify(prepared))
  const { render } = prepared.view
  let executed = 0
  const eventsOf = (count: number, padding: string): LogEvent[] =>
    Array.from({ length: count }, (_, n) => ({
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
  expect(await renderAll(eventsOf(256, ''))).toBeLessThanOrEqual(9)
  expect(await renderAll(eventsOf(256, ''))).toBe(1)
})
