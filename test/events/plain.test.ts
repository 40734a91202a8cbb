// The plain SSE endpoint of live events, tested with the EventSource that people use.
import { EventSource } from 'eventsource'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { emit } from '../../src/events/log/emit.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { foreignInstance, happen, type LiveRig, openLiveRig, openStreams, plainUrl } from './live-rig.ts'
import { newEvent, newPlace, numberOf, plainNumbers } from './rig.ts'
import { openSse } from './sse.ts'

let live: LiveRig

beforeAll(async () => {
  live = await openLiveRig()
})
beforeEach(() => openStreams(live, 0))

function openSource(query = ''): EventSource {
  const source = new EventSource(plainUrl(live, query), {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...live.key } }),
  })
  atEnd('test', async () => source.close())
  return source
}

it('sends each event under its name, with exactly the text of the log', async () => {
  const { databaseUrl, place } = live
  const source = openSource()
  const got: { type: string; data: string; id: string }[] = []
  for (const type of ['message.sent', 'message.read']) {
    source.addEventListener(type, ({ data, lastEventId }) => got.push({ type, data, id: lastEventId }))
  }
  await until(() => source.readyState === source.OPEN)
  await emit(sql(databaseUrl), [newEvent(place, 1), newEvent(place, 2, 'message.read'), newEvent(place, 3, 'message.failed')])
  await until(() => got.length === 2)
  expect(got.map(({ type }) => type)).toEqual(['message.sent', 'message.read'])
  const { rows } = await sql(databaseUrl).query<{ payload: string }>(
    'select payload::text as payload from events order by seq desc limit 3',
  )
  expect(got.map(({ data }) => data)).toEqual([rows[2]?.payload, rows[1]?.payload])
  expect(Object.keys(JSON.parse(got[0]?.data ?? '')).slice(0, 2)).toEqual(['id', 'event'])
  expect(got.every(({ id }) => id.length > 0)).toBe(true)
})

it('sends unnamed events with named=false, for clients that only handle `onmessage`', async () => {
  const source = openSource('?named=false&types=message.read')
  const got: number[] = []
  source.onmessage = ({ data }) => got.push(numberOf(data))
  await until(() => source.readyState === source.OPEN)
  await emit(sql(live.databaseUrl), [newEvent(live.place, 1), newEvent(live.place, 2, 'message.read')])
  await until(() => got.length === 1)
  expect(got).toEqual([2])
})

it('filters events by type and by instance', async () => {
  const { account, databaseUrl, key: headers, place } = live
  const other = (await connectedInstance(databaseUrl, account)).id
  const both = await openSse(plainUrl(live, '?types=message.sent,message.read'), { headers })
  const repeated = await openSse(plainUrl(live, '?types=message.sent&types=message.read'), { headers })
  const one = await openSse(plainUrl(live, `?instanceId=${other.toUpperCase()}`), { headers })
  await emit(sql(databaseUrl), [
    newEvent(place, 1),
    newEvent({ ...place, instanceId: other }, 2, 'message.failed'),
    newEvent(place, 3, 'message.read'),
  ])
  await until(() => both.events.length === 2 && repeated.events.length === 2 && one.events.length === 1)
  expect([both, repeated, one].map(plainNumbers)).toEqual([[1, 3], [1, 3], [2]])
})

it('sends no events of another workspace', async () => {
  const stream = await openSse(plainUrl(live), { headers: live.key })
  await emit(sql(live.databaseUrl), [newEvent(newPlace(), 1), newEvent(live.place, 2)])
  await until(() => stream.events.length > 0)
  expect(plainNumbers(stream)).toEqual([2])
})

it('sends a cursor before the first event, and resumes there', async () => {
  const { key } = live
  const first = await openSse(plainUrl(live), { headers: key })
  expect(first.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  const beginning = await until(() => first.others.find((block) => block.id))
  expect(Number(beginning.retry)).toBeGreaterThan(0)
  first.close()
  await happen(live, 3)
  const headers = { ...key, 'last-event-id': beginning.id as string }
  const second = await openSse(plainUrl(live, '?after=nonsense'), { headers })
  await until(() => second.events.length === 3)
  expect(plainNumbers(second)).toEqual([0, 1, 2])
})

it('refuses missing credentials, invalid parameters and unknown ids in the error envelope', async () => {
  const foreign = await foreignInstance(live)
  const { get } = api(live.gateway, live.account.apiKey)
  const rows: [query: string, status: number, code: string, message: RegExp][] = [
    ['?types=nope', 400, 'VALIDATION_ERROR', /^types\.0: must be one of instance\.connected, /],
    [
      '?instanceId=x&messageId=y&named=maybe',
      400,
      'VALIDATION_ERROR',
      /instanceId: must be a UUID; messageId: must be a UUID; named: must be one of true, false/,
    ],
    ['?after=x&after=y', 400, 'VALIDATION_ERROR', /^after: must be given once$/],
    ['?after=x', 400, 'VALIDATION_ERROR', /^after: is not an event cursor$/],
    [`?instanceId=${foreign}`, 404, 'NOT_FOUND', /^Instance not found$/],
    [`?messageId=${newId()}`, 404, 'NOT_FOUND', /^Message not found$/],
    [`?campaignId=${newId()}`, 404, 'NOT_FOUND', /^Campaign not found$/],
  ]
  for (const [query, status, code, message] of rows) {
    const answer = await get(`events/stream${query}`)
    expect([query, answer.status, answer.body.error?.code]).toEqual([query, status, code])
    expect(answer.body.error.message).toMatch(message)
  }
  const nobody = await api(live.gateway).get('events/stream')
  expect(nobody.status).toBe(401)
  expect(nobody.body).toEqual({ error: { code: 'UNAUTHORIZED', message: 'Missing or invalid API key' } })
  const late = await get('events/stream', { 'last-event-id': 'x' })
  expect(late.body.error.message).toBe('Last-Event-ID: is not an event cursor')
})
