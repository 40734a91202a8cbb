// A client leaves while its connection for many operations moves to the process that it asked.
import { expect, it } from 'vitest'
import { cloneDatabase, sql } from '../kit/database.ts'
import { hold } from '../kit/fault.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { liveEnv, openLiveRig, openStreams, singleUrl, subscription } from './live-rig.ts'

it('a client that leaves while its connection moves to another process leaves no operation behind', async () => {
  const databaseUrl = await cloneDatabase()
  const [before, after] = [
    await openGateway({ databaseUrl, env: liveEnv }),
    await openGateway({ databaseUrl, env: liveEnv }),
  ] as const
  const here = await openLiveRig({ databaseUrl, gateway: before })
  const there = { ...here, gateway: after }
  const token = await (await fetch(singleUrl(here), { method: 'PUT', headers: here.key })).text()
  const headers = { ...here.key, 'x-graphql-event-stream-token': token, 'content-type': 'application/json' }
  const body = JSON.stringify({ query: subscription, extensions: { operationId: 'one' } })
  expect((await fetch(singleUrl(here), { method: 'POST', headers, body })).status).toBe(202)

  const held = await hold(databaseUrl, 'update', 'live_connections')
  const leaving = new AbortController()
  const asked = fetch(`${singleUrl(there)}?token=${token}`, {
    headers: { accept: 'text/event-stream' },
    signal: leaving.signal,
  })
  await held.waits()
  leaving.abort()
  await expect(asked).rejects.toThrow('aborted')
  // Its answer comes after the process has learned that the client left.
  expect((await fetch(new URL('/livez', after.url))).status).toBe(200)
  await held.release()
  await until(async () => (await sql(databaseUrl).query('select from live_connections')).rowCount === 0)
  for (const live of [here, there]) await openStreams(live, 0)
})
