// HEALTH_PORT: a process of any roles answers the probes and its own metrics on a port that serves nothing else.
import { once } from 'node:events'
import net from 'node:net'
import { expect, it } from 'vitest'
import { sentenceOf } from '../../src/core/sentence.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { spawnGateway } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

const printed = /^probes and metrics on (http:\S+)$/
const ready = [200, { status: 'ok', reasons: [] }]

async function read(url: string, path: string, headers: Record<string, string> = {}): Promise<[number, unknown]> {
  const response = await fetch(`${url}${path}`, { headers })
  return [response.status, await response.json()]
}

async function figures(url: string, token?: string): Promise<string> {
  const response = await fetch(`${url}/metrics`, { headers: token ? { authorization: `Bearer ${token}` } : {} })
  expect(response.status).toBe(200)
  return await response.text()
}

/** The value of a counter; 0 if the process has not counted anything under this name. */
const count = (text: string, name: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? 0,
  )

const sends = 'gateway_send_seconds_count{provider="sandbox",outcome="accepted"}'
const numbered = 'gateway_relay_lag_seconds_count'

it('processes without the role http answer the probes, and each one reports its own figures', async () => {
  const databaseUrl = await cloneDatabase()
  const env = { HEALTH_PORT: '0' }
  const front = await openGateway({ databaseUrl, env: { ...env, ROLES: 'http' } })
  const worker = spawnGateway({ databaseUrl, env: { ...env, ROLES: 'worker', METRICS_TOKEN: 'word' } })
  const relay = spawnGateway({ databaseUrl, env: { ...env, ROLES: 'relay' } })
  const [ofFront, ofWorker, ofRelay] = (await Promise.all([front, worker, relay].map((each) => each.line(printed)))).map(
    ([, url]) => url as string,
  ) as [string, string, string]
  for (const url of [ofFront, ofWorker, ofRelay, front.url]) {
    expect(await read(url, '/livez')).toEqual([200, { status: 'ok' }])
    expect(await read(url, '/readyz')).toEqual(ready)
  }

  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const message = { instanceId, to: '+4915112345678', type: 'text', text: 'x' }
  const sent = await api(front, account.apiKey).post('messages/send', message)
  expect(sent.status).toBe(201)
  await until(async () => count(await figures(ofRelay), numbered) > 0 && count(await figures(ofWorker, 'word'), sends) > 0)
  expect(count(await figures(ofWorker, 'word'), numbered)).toBe(0)
  expect([count(await figures(ofRelay), sends), count(await figures(ofFront), sends)]).toEqual([0, 0])
  expect(await read(ofWorker, '/metrics')).toEqual([401, { error: { code: 'UNAUTHORIZED', message: expect.any(String) } }])

  // A relay is ready without the job queue, which only workers need.
  await sql(databaseUrl).query('alter schema pgboss rename to away')
  expect(await read(ofWorker, '/readyz')).toEqual([503, { status: 'unavailable', reasons: ['job_queue_missing'] }])
  expect(await read(ofRelay, '/readyz')).toEqual(ready)
  await sql(databaseUrl).query('alter schema away rename to pgboss')
  await sql(databaseUrl).query(
    'delete from _prisma_migrations where migration_name = (select max(migration_name) from _prisma_migrations)',
  )
  for (const url of [ofWorker, ofRelay]) {
    expect(await read(url, '/readyz')).toEqual([503, { status: 'unavailable', reasons: ['migrations_pending'] }])
  }
})

it('serves nothing else on the port, and keeps it open until the work has ended', async () => {
  const databaseUrl = await cloneDatabase()
  await connectedInstance(databaseUrl, await createAccount(databaseUrl))
  const gateway = await openGateway({ databaseUrl, env: { HEALTH_PORT: '0' } })
  const [, url] = (await gateway.line(printed)) as [string, string]
  for (const path of ['/', '/graphql', '/docs', '/api/v1/messages', '/api/auth/jwks', '/providers/cloud']) {
    expect([path, ...(await read(url, path))]).toEqual([path, 404, { error: { code: 'NOT_FOUND', message: expect.any(String) } }])
  }
  const posted = await fetch(`${url}/livez`, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
  // Whichever port is asked, it is the same process that reports on the whole installation.
  for (const asked of [url, gateway.url, url]) expect(await figures(asked)).toContain('gateway_instances{status="connected"} 1')

  // A partial request keeps the main server from closing.
  const { hostname, port } = new URL(gateway.url)
  const socket = net.connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('GET /livez HTTP/1.1\r\n')
  await read(gateway.url, '/livez')
  const stopped = gateway.stop()
  await until(
    async () =>
      await fetch(`${gateway.url}/livez`).then(
        () => false,
        () => true,
      ),
  )
  expect(await read(url, '/readyz')).toEqual([503, { status: 'unavailable', reasons: ['stopping'] }])
  expect(await read(url, '/livez')).toEqual([200, { status: 'ok' }])
  socket.destroy()
  await stopped
  await expect(fetch(`${url}/livez`)).rejects.toThrow()
})

it('a worker serves its probes on for DRAIN_SECONDS while it reports that it is not ready', async () => {
  const worker = spawnGateway({
    databaseUrl: await cloneDatabase(),
    env: { ROLES: 'worker', HEALTH_PORT: '0', DRAIN_SECONDS: '8' },
  })
  const [, url] = (await worker.line(printed)) as [string, string]
  worker.kill('SIGTERM')
  await until(async () => (await read(url, '/readyz'))[0] === 503)
  expect(await read(url, '/livez')).toEqual([200, { status: 'ok' }])
  expect(await worker.exited).toEqual({ code: 0, signal: null })
})

it('a port in use is explained by the name of its variable', async () => {
  const { port } = new URL(commons().url)
  const start = openGateway({ databaseUrl: await cloneDatabase(), env: { ROLES: 'relay', HEALTH_PORT: port } })
  expect(sentenceOf(await start.catch((error: unknown) => error))).toBe(
    `127.0.0.1:${port} is already in use; stop the other program or set HEALTH_PORT (0 selects a free port)`,
  )
})
