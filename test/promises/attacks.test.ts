// Requests that mean harm by how they are sent: each gets the right answer at once, in the envelope, and never a 5xx.
import { beforeAll, describe, expect, it } from 'vitest'
import { promptly } from '../kit/kit.ts'
import { openOwnRig, type Rig } from '../rest-compat/rig.ts'
import { postHead, send, wireAttacks } from './wire.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openOwnRig()
})

describe('on the wire', () => {
  it.each(wireAttacks)('%s gets one answer and the door', async (_, bytes, status) => {
    const { text: answered, closed } = await promptly(() => send(rig.gateway, bytes))
    expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual([`HTTP/1.1 ${status}`])
    const [head, body] = answered.split('\r\n\r\n') as [string, string]
    expect(head).toMatch(/content-type: application\/json; charset=utf-8/i)
    expect(head).toMatch(/x-request-id: [\w.-]+/i)
    const code = status === 405 ? 'METHOD_NOT_ALLOWED' : 'VALIDATION_ERROR'
    expect(JSON.parse(body)).toEqual({ error: { code, message: expect.any(String) } })
    expect(closed).toBe(true)
  })

  it('what follows a body that is longer than said has nothing of the request before', async () => {
    const first = `${postHead}x-api-key: ${rig.tenant.account.apiKey}\r\nContent-Length: 2\r\n\r\n{}`
    const { text: answered } = await send(rig.gateway, `${first}GET /api/v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 401'])
  })

  it('headers that claim to be somebody, or somewhere else, change nothing', async () => {
    const { account } = rig.tenant
    const claims = [
      'X-User-Id',
      'X-Workspace-Id',
      'X-Real-IP',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'X-Original-URL',
      'Forwarded',
    ]
    const lines = claims.map((name) => `${name}: ${rig.stranger.account.userId}\r\n`).join('')
    const ask = `GET /api/v1/me HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nx-api-key: ${account.apiKey}\r\n${lines}\r\n`
    const { text: answered } = await send(rig.gateway, ask)
    expect(answered).toMatch(/^HTTP\/1\.1 200/)
    expect(JSON.parse(answered.split('\r\n\r\n')[1] as string).data.id).toBe(account.userId)
    expect(answered).not.toMatch(/evil\.example/)
  })
})
