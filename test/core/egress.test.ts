// Proves that outbound requests never reach private networks, whatever a DNS name, a redirect or the environment says.
import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from '../../src/core/network/egress.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { egressWith, post } from './egress-rig.ts'

it('sends the body and headers unchanged', async () => {
  const receiver = await openReceiver(status(201, { 'retry-after': '7' }, 'thanks'))
  expect(await post(egressWith(), receiver.url)).toEqual({
    outcome: 'response',
    status: 201,
    retryAfterMs: 7000,
    bodyBytes: 6,
    start: Buffer.from('thanks'),
  })
  expect(receiver.requests).toMatchObject([{ path: '/hook', body: '{"a":1}', headers: { 'content-type': 'application/json' } }])
})

describe('private networks', () => {
  it('are refused as literal addresses before a connection is made', async () => {
    const canary = await openReceiver()
    const egress = egressWith({ allowed: [] })
    for (const host of ['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]', '[::127.0.0.1]', 'localhost']) {
      for (const scheme of ['http', 'https']) {
        expect(await post(egress, `${scheme}://${host}:${canary.port}/`)).toEqual({ outcome: 'error', reason: 'blocked_address' })
      }
    }
    expect(canary.connections).toBe(0)
  })

  it('are refused when a name was public at creation and resolves to them at delivery', async () => {
    const canary = await openReceiver()
    const answers = [['93.184.216.34'], ['127.0.0.1']]
    const egress = egressWith({ allowed: [], resolve: async () => answers.shift() ?? [] })
    const url = `https://rebinding.example:${canary.port}/`
    expect(await egress.checkName(new URL(url))).toBeUndefined()
    expect(await post(egress, url)).toEqual({ outcome: 'error', reason: 'blocked_address' })
    expect(canary.connections).toBe(0)
  })

  it.each([
    [['127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['2606:4700::1111', '::1']],
    [['::ffff:7f00:1']],
    [['64:ff9b::7f00:1']],
  ])('are refused when a name has the records %j, at creation and at connection', async (records) => {
    const canary = await openReceiver()
    const egress = egressWith({ allowed: [], resolve: async () => records })
    const url = `https://mixed.example:${canary.port}/`
    expect(await egress.checkName(new URL(url))).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
    expect(await post(egress, url)).toEqual({ outcome: 'error', reason: 'blocked_address' })
    expect(canary.connections).toBe(0)
  })

  it('reveal nothing about ports: an open port and a closed one get the same answer', async () => {
    const canary = await openReceiver()
    const egress = egressWith({ allowed: [], resolve: async () => ['127.0.0.1'] })
    const opened = await post(egress, `https://name.example:${canary.port}/`)
    const closed = await post(egress, 'https://name.example:1025/')
    expect(opened).toEqual(closed)
  })

  it('that are allowed may be reached by name and over http', async () => {
    const receiver = await openReceiver()
    const egress = egressWith({ resolve: async () => ['127.0.0.1'] })
    const url = `http://receiver.example:${receiver.port}/`
    expect(await egress.checkName(new URL(url))).toBeUndefined()
    expect(await post(egress, url)).toMatchObject({ outcome: 'response', status: 200 })
  })

  it('are the only ones that plain http may reach', async () => {
    const egress = egressWith({ resolve: async () => ['93.184.216.34'] })
    expect(await egress.checkName(new URL('http://public.example/'))).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
    expect(await post(egress, 'http://public.example/')).toEqual({ outcome: 'error', reason: 'blocked_address' })
  })
})

it('accepts an unresolvable name at creation, and fails at delivery', async () => {
  const egress = egressWith({ resolve: async () => [] })
  expect(await egress.checkName(new URL('https://later.example/'))).toBeUndefined()
  expect(await post(egress, 'https://later.example/')).toEqual({ outcome: 'error', reason: 'name_not_resolved' })
})

it.each([300, 301, 302, 303, 304, 307, 308])('does not follow a %i', async (code) => {
  const canary = await openReceiver()
  const receiver = await openReceiver(status(code, { location: canary.url }))
  expect(await post(egressWith(), receiver.url)).toMatchObject({ outcome: 'response', status: code })
  expect(canary.connections).toBe(0)
})

it('ignores proxy variables', async () => {
  const canary = await openReceiver()
  const receiver = await openReceiver()
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
  for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${canary.port}`
  try {
    expect(await post(egressWith(), receiver.url)).toMatchObject({ status: 200 })
  } finally {
    for (const name of names) delete process.env[name]
  }
  expect(canary.connections).toBe(0)
})
it('parses Retry-After as seconds or as a date', () => {
  expect(parseRetryAfter('120')).toBe(120_000)
  const at = Math.floor(Date.now() / 1_000) * 1_000 + 60_000
  const untilThenMs = parseRetryAfter(new Date(at).toUTCString()) as number
  expect(untilThenMs).toBeLessThanOrEqual(60_000)
  expect(Date.now() + untilThenMs).toBeGreaterThanOrEqual(at)
  expect(parseRetryAfter('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(0)
  for (const header of ['soon', '-1', '1e9', undefined]) expect(parseRetryAfter(header)).toBeUndefined()
})
