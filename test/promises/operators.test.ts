// Proves what operators get: an access log without secrets, origins of browsers, the policy of the rate limit, metrics that add up.
import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { version } from '../../src/core/version.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { node, root } from '../kit/environment.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

let databaseUrl: string
let gateway: OpenGateway
let apiKey: string
let userId: string

const env = { ACCESS_LOG: '1', LOG_LEVEL: 'info', ALLOWED_ORIGINS: 'https://app.example.com,https://two.example.com:8443' }

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl, env })
  const account = await createAccount(databaseUrl)
  ;({ apiKey, userId } = account)
  await connectedInstance(databaseUrl, account)
  await connectedInstance(databaseUrl, account, { status: 'disconnected' })
})

const get = async (path: string, headers: Record<string, string> = { 'x-api-key': apiKey }, url = gateway.url) =>
  await fetch(url + path, { headers })

const lines = () => gateway.logs.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))

describe('the access log', () => {
  it('has one line of JSON for each request, with the account and the route', async () => {
    await get('/api/v1/messages/0190?cursor=secret-cursor', { 'x-api-key': apiKey, 'x-request-id': 'mine-1' })
    const line = await until(() => lines().find(({ requestId }) => requestId === 'mine-1'))
    expect(line).toMatchObject({ msg: 'request', method: 'GET', route: '/api/v1/messages/:id', status: 400, account: userId })
    expect(line.ms).toBeGreaterThanOrEqual(0)
  })

  it('contains neither keys, nor queries, nor paths that are secrets', async () => {
    await get('/media/0190/secret-name?token=secret-token', { 'x-api-key': 'svc_secret-key', authorization: 'Bearer secret-jwt' })
    await get('/nowhere/secret-path', { 'x-request-id': 'mine-2' })
    expect(await until(() => lines().find(({ requestId }) => requestId === 'mine-2'))).toMatchObject({
      route: 'unknown',
      status: 404,
    })
    expect(gateway.logs.join('\n')).not.toMatch(/secret-|cursor=/)
    expect(gateway.logs.join('\n')).not.toContain(apiKey)
  })
})

it('that the gateway is ready is a line of JSON in the log, beside the line for people', () => {
  expect(lines()).toContainEqual(expect.objectContaining({ msg: 'gateway ready', url: gateway.url, version }))
  expect(gateway.logs).toContain(`gateway ready on ${gateway.url}`)
})

it('pages of ALLOWED_ORIGINS may call the API, and those of others may not', async () => {
  const allowed = async (origin: string) =>
    (await get('/api/v1/instances', { 'x-api-key': apiKey, origin })).headers.get('access-control-allow-origin')
  expect(await allowed('https://app.example.com')).toBe('https://app.example.com')
  expect(await allowed('https://two.example.com:8443')).toBe('https://two.example.com:8443')
  expect(await allowed('https://app.example.com.evil.example')).toBeNull()
})

it('the policy of the rate limit stands beside its state', async () => {
  const { headers } = await get('/api/v1/instances')
  expect(headers.get('ratelimit-policy')).toBe(`${headers.get('ratelimit-limit')};w=1`)
})

it('figures of the whole installation are reported by one process, so that they add up', async () => {
  const other = await openGateway({ databaseUrl })
  await sql(databaseUrl).query(
    `insert into webhook_endpoints (id, "workspaceId", url, events, secret, "disabledReason", "disabledAt")
     select gen_random_uuid(), id, 'http://127.0.0.1:9/', '{message.sent}', '', 'gone', now() from workspaces limit 1`,
  )
  const metrics = async (url: string) => await (await get('/metrics', {}, url)).text()
  const [first, second] = [await metrics(gateway.url), await metrics(other.url)]
  expect(first).toContain('gateway_instances{status="connected"} 1')
  expect(first).toContain('gateway_instances{status="disconnected"} 1')
  expect(first).toContain('gateway_disabled_endpoints{reason="gone"} 1')
  expect(first).toMatch(/^gateway_mails_waiting 0$/m)
  expect(first).toMatch(/^gateway_oldest_transaction_seconds \d/m)
  expect(second).not.toMatch(/^gateway_(instances|queue_depth|queue_lag_seconds|dead_jobs|disabled_endpoints)\{/m)
  for (const text of [first, second]) {
    expect(text).toContain(`gateway_build_info{version="${version}",node="${process.versions.node}"} 1`)
    expect(text).toMatch(/^gateway_pool_waiting\{pool="main"\} 0$/m)
  }
  // The report passes to another process when its holder is not asked any more.
  await sql(databaseUrl).query(`update metrics_report set until = now() - interval '1 second'`)
  expect(await metrics(other.url)).toContain('gateway_instances{status="connected"} 1')
  expect(await metrics(gateway.url)).not.toContain('gateway_instances{')
})

it('messages are counted by status and error', async () => {
  const { rows } = await sql(databaseUrl).query(`select id from instances where status = 'connected'`)
  const body = JSON.stringify({ instanceId: rows[0].id, to: '+4915112340001', type: 'text', text: 'Hi' })
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  await fetch(`${gateway.url}/api/v1/messages/send`, { method: 'POST', headers, body })
  await until(async () => {
    const text = await (await get('/metrics', {})).text()
    return text.includes('gateway_messages_total{status="failed",error="RECIPIENT_NOT_FOUND"} 1')
  })
  expect(await (await get('/metrics', {})).text()).toContain('gateway_messages_total{status="queued",error=""} 1')
})

it('an older Node says in one line what to do', () => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  const { status, stderr } = spawnSync(node, ['--import', `data:text/javascript,${encodeURIComponent(old)}`, 'src/main.ts'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect([status, stderr.trim().split('\n')]).toEqual([
    1,
    [expect.stringMatching(/^Node 20\.20\.2 is too old: start with `npm start`/)],
  ])
})
