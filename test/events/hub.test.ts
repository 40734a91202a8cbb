// The hub inside one process: shared output, bounded buffers, and survived failures.
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { BoundedWriter } from '../../src/events/live/bounded-writer.ts'
import type { LogView } from '../../src/events/live/fanout.ts'
import { distinctFrame } from '../../src/events/live/frames.ts'
import { emit } from '../../src/events/log/emit.ts'
import { atEnd } from '../kit/at-end.ts'
import { until } from '../kit/until.ts'
import { countedView, openHub } from './hub-rig.ts'
import { emitMany, newEvent, newPlace, plainNumbers, upTo, wholeLog } from './rig.ts'

describe('subscribers of one view', () => {
  it('cost one rendering per event, however many subscribers there are', async () => {
    const { app, place, followLog } = await openHub()
    const [view, apart] = [countedView(place, 'shared'), countedView(place, 'apart')]
    const readers = [await followLog(apart)]
    for (let i = 0; i < 20; i++) readers.push(await followLog(view))
    await emitMany(app.pool, place, 300)
    await until(() => readers.every((reader) => reader.events.length === 300))
    for (const reader of readers) expect(plainNumbers(reader)).toEqual(upTo(300))
    expect([...view.rendered.values()].every((times) => times === 1)).toBe(true)
    expect([...apart.rendered.values()].every((times) => times === 1)).toBe(true)
  })

  it('share reads of the log when they resume at the same position', async () => {
    const { app, databaseUrl, hub, place, open } = await openHub()
    await emitMany(app.pool, place, 90)
    await until(async () => (await wholeLog(databaseUrl)).length === 90)
    const view = countedView(place, 'shared')
    let here = 0
    const together = Promise.withResolvers<void>()
    const join = async (writer: BoundedWriter) => {
      if (++here === 20) together.resolve()
      await together.promise
      return await hub.followLog(view, { writer, frame: distinctFrame, cursor: 0n, sent: { seq: 0n, mark: undefined } })
    }
    const readers = await Promise.all(Array.from({ length: 20 }, () => open(join)))
    await until(() => readers.every((reader) => reader.events.length === 90))
    for (const reader of readers) expect(plainNumbers(reader)).toEqual(upTo(90))
    expect(Math.max(...view.rendered.values())).toBeLessThan(20)
  })

  it('get an event without an instance, unless they filter by one', async () => {
    const { app, place, followLog } = await openHub()
    const all = await followLog(countedView(place, 'all'))
    const { instanceId } = place
    const filtered = await followLog({ ...countedView(place, 'filtered'), filter: { instanceId } })
    await emit(app.pool, [{ ...newEvent(place, 0), instanceId: null }, newEvent(place, 1)])
    await until(() => all.events.length === 2 && filtered.events.length === 1)
    expect([plainNumbers(all), plainNumbers(filtered)]).toEqual([[0, 1], [1]])
  })

  it('wait for an event that cannot be rendered yet, while other views go on', async () => {
    const { app, place, followLog } = await openHub()
    let broken = true
    const stuck = await followLog(countedView(place, 'stuck', (n) => broken && n >= 5))
    const fine = await followLog(countedView(place, 'fine'))
    await emitMany(app.pool, place, 5)
    await until(() => stuck.events.length === 5)
    await emitMany(app.pool, place, 5, 5)
    await until(() => fine.events.length === 10)
    expect(stuck.events.length).toBe(5)
    broken = false
    await until(() => stuck.events.length === 10)
    await emitMany(app.pool, place, 2, 10)
    await until(() => stuck.events.length === 12 && fine.events.length === 12)
    expect(plainNumbers(stuck)).toEqual(upTo(12))
  })
})

it('a view whose renderings are slow, each within the limit, does not keep another one from its events', async () => {
  const { app, place, followLog } = await openHub()
  const slow = countedView(place, 'slow')
  let renderMs = 100
  const render: LogView['render'] = async (events) => {
    await pause(renderMs)
    return await slow.render(events.slice(0, 1))
  }
  const behind = await followLog({ ...slow, render })
  const fine = await followLog(countedView(place, 'fine'))
  // The slow one needs 25 s for them.
  await emitMany(app.pool, place, 250)
  await until(() => fine.events.length === 250 && slow.rendered.size > 0)
  for (let n = 250; n < 253; n++) {
    await emitMany(app.pool, place, 1, n)
    await until(() => fine.events.length === n + 1)
  }
  // Rounds in which the others would have waited for it would have rendered all 250.
  expect(slow.rendered.size).toBeLessThan(250)
  renderMs = 0
  await until(() => behind.events.length === 253)
  expect(plainNumbers(behind)).toEqual(upTo(253))
})

describe('the hub', () => {
  it('buffers at most 256 events or 1 MiB for a reader that stops reading', async () => {
    const { app, place, responses, followLog } = await openHub()
    const [small, large] = [await followLog(countedView(place, 'small')), await followLog(countedView(place, 'large'))]
    const held = [...responses]
    let most = 0
    const looking = setInterval(() => {
      most = Math.max(most, ...held.map((response) => response.writableLength))
    }, 1)
    atEnd('test', async () => clearInterval(looking))
    small.pause()
    large.pause()
    const live = await followLog(countedView(place, 'live'))
    for (let n = 0; n < 6_000; n += 100) await emitMany(app.pool, place, 100, n, 'x'.repeat(n < 3_000 ? 50 : 8_000))
    await until(() => live.events.length === 6_000)
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(1024 * 1024 + 1024)
    small.resume()
    large.resume()
    await until(() => small.events.length === 6_000 && large.events.length === 6_000)
    expect(plainNumbers(small)).toEqual(upTo(6_000))
  })

  it('goes on within 15 s when its LISTEN connection is cut or stops answering', async () => {
    const { app, place, followLog } = await openHub()
    const reader = await followLog(countedView(place, 'any'))
    // In-process notifications would hide the loss of the LISTEN connection.
    app.signals.removeAllListeners('events')
    const listener = async () => {
      const { rows } = await app.pool.query<{ pid: number }>(
        `select pid from pg_stat_activity
         where application_name = 'gateway-listen' and datname = current_database() and query like 'select last%' and state = 'idle'`,
      )
      return rows[0]?.pid
    }
    const first = await until(listener)
    await app.pool.query('select pg_terminate_backend($1)', [first])
    await emitMany(app.pool, place, 1)
    await until(() => reader.events.length === 1, { timeoutMs: 5_000 })

    const silent = await until(async () => {
      const pid = await listener()
      return pid !== first && pid
    })
    process.kill(silent, 'SIGSTOP')
    try {
      await emitMany(app.pool, place, 1, 1)
      await until(() => reader.events.length === 2, { timeoutMs: 15_000 })
    } finally {
      process.kill(silent, 'SIGCONT')
    }
    expect(plainNumbers(reader)).toEqual([0, 1])
  })

  it('skips the events of workspaces without subscribers, and still keeps up', async () => {
    const { app, place, followLog } = await openHub()
    const view = countedView(place, 'mine')
    const reader = await followLog(view)
    await emitMany(app.pool, newPlace(), 700)
    await emitMany(app.pool, place, 1)
    await until(() => reader.events.length === 1)
    expect(view.rendered.size).toBe(1)
  })
})
