// An operation on a single connection that was completed leaves a later one with the same id alone.
import { beforeAll, expect, it } from 'vitest'
import { emit } from '../../src/events/log/emit.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { type LiveRig, openLiveRig, openStreams, singleUrl } from './live-rig.ts'
import { newEvent } from './rig.ts'
import { openSse } from './sse.ts'

let live: LiveRig

beforeAll(async () => {
  live = await openLiveRig()
})

it('tells only the later one, which ends with its own completion', async () => {
  const url = singleUrl(live).href
  const token = await (await fetch(url, { method: 'PUT', headers: live.key })).text()
  const headers = { ...live.key, 'x-graphql-event-stream-token': token, 'content-type': 'application/json' }
  const operate = async (query: string) => {
    const body = JSON.stringify({ query, extensions: { operationId: 'one' } })
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  const complete = async () => (await fetch(`${url}?operationId=one`, { method: 'DELETE', headers })).status

  // Its result waits for the connection.
  expect(await operate('{ instances { id } }')).toBe(202)
  expect(await complete()).toBe(200)
  expect(await operate('subscription { events { payload } }')).toBe(202)
  const stream = await openSse(`${url}?token=${token}`)
  await emit(sql(live.databaseUrl), [newEvent(live.place, 1)])
  await until(() => stream.events.some(({ data }) => data?.includes('payload":{"id"')))
  expect(stream.events.map(({ event }) => event)).toEqual(['next'])
  await openStreams(live, 1)
  expect(await complete()).toBe(200)
  await openStreams(live, 0)
})
