// The hub sends a state at once, again whenever it differs, and ends the stream when the state is gone.
import { expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { announceChange, subject } from '../../src/events/live/follow.ts'
import { distinctComplete, distinctFrame } from '../../src/events/live/frames.ts'
import { until } from '../kit/until.ts'
import { type HubRig, openHub } from './hub-rig.ts'
import { emitMany } from './rig.ts'
import type { SseReader } from './sse.ts'

/** A state that a test sets, and the number of times it was read. */
interface Thing {
  value: { count: number; gone?: boolean }
  readings: number
}

async function follow({ hub, place, open }: HubRig, thing: Thing, about: string): Promise<SseReader> {
  const render = async () => {
    thing.readings++
    return { body: JSON.stringify(thing.value), ended: thing.value.gone === true }
  }
  const view = { key: about, workspaceId: place.workspaceId, subjects: [about], render }
  const reader = await open((writer) =>
    hub.followState(view, { writer, frame: distinctFrame, ended: () => writer.end(distinctComplete) }),
  )
  await until(() => reader.events.length > 0)
  return reader
}

function values(reader: SseReader): unknown[] {
  return reader.events.map(({ data }) => (data ? JSON.parse(data).count : 'end'))
}

it('sends the state at once, and again when a change is announced', async () => {
  const rig = await openHub()
  const thing: Thing = { value: { count: 1 }, readings: 0 }
  const about = subject('bulkJob', newId())
  const readers = [await follow(rig, thing, about), await follow(rig, thing, about)]
  expect(readers.map(values)).toEqual([[1], [1]])
  thing.value = { count: 2 }
  await announceChange(rig.app.pool, subject('bulkJob', newId()), about)
  await until(() => readers.every((reader) => reader.events.length === 2))
  expect(readers.map(values)).toEqual([
    [1, 2],
    [1, 2],
  ])
  expect(readers[0]?.events[0]?.id).toBeUndefined()
})

it('reads the state again for events of its instance, and sends nothing while it is the same', async () => {
  const rig = await openHub()
  const { app, place } = rig
  const thing: Thing = { value: { count: 1 }, readings: 0 }
  const reader = await follow(rig, thing, subject('instance', place.instanceId))
  const before = thing.readings
  await emitMany(app.pool, place, 1)
  await until(() => thing.readings > before)
  thing.value = { count: 3 }
  await emitMany(app.pool, place, 500)
  await until(() => reader.events.length === 2)
  expect(values(reader)).toEqual([1, 3])
  // Five hundred events must not cause five hundred readings.
  expect(thing.readings - before).toBeLessThan(12)
})

it('ends the stream after the last value when the state is gone', async () => {
  const rig = await openHub()
  const thing: Thing = { value: { count: 1 }, readings: 0 }
  const about = subject('instance', rig.place.instanceId)
  const reader = await follow(rig, thing, about)
  thing.value = { count: 0, gone: true }
  await announceChange(rig.app.pool, about)
  await until(() => reader.ended)
  expect(values(reader)).toEqual([1, 0, 'end'])
})
