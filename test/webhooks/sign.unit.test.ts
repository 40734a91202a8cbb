// Signatures are accepted, unchanged, by the verifiers that integrators use: GitHub's, Standard Webhooks' and Svix's.
import { verify } from '@octokit/webhooks-methods'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, it } from 'vitest'
import { newSecret, signedHeaders } from '../../src/webhooks/sign.ts'

const bodies = {
  plain: '{"id":"1","event":"message.sent"}',
  emoji: JSON.stringify({ text: '👩‍👩‍👧‍👦 \u2028\u2029 é' }),
  long: JSON.stringify({ text: 'ä'.repeat(16_384) }),
}

function signed(text: string, secret: string, previous?: string, at = new Date()) {
  const body = Buffer.from(text)
  const headers = signedHeaders({ eventId: '0199-event', type: 'message.sent', body, at }, secret, previous ? [previous] : [])
  return { text, headers: headers as Record<string, string> }
}

it('makes secrets of 32 random bytes', () => {
  const secret = newSecret()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(newSecret()).not.toBe(secret)
})

describe.each(Object.entries(bodies))('a %s body', (_, text) => {
  const secret = newSecret()
  const { headers } = signed(text, secret)

  it('is verified by @octokit/webhooks-methods, and refused with one byte added', async () => {
    expect(await verify(secret, text, headers['X-Service-Signature'] as string)).toBe(true)
    expect(await verify(secret, `${text} `, headers['X-Service-Signature'] as string)).toBe(false)
    expect(await verify(newSecret(), text, headers['X-Service-Signature'] as string)).toBe(false)
  })

  it.each([
    ['standardwebhooks', StandardWebhook],
    ['svix', SvixWebhook],
  ])('is verified by %s, and refused with one byte added', (_, Verifier) => {
    const verifier = new Verifier(secret)
    expect(() => verifier.verify(text, headers)).not.toThrow()
    expect(() => verifier.verify(`${text} `, headers)).toThrow()
    expect(() => new Verifier(newSecret()).verify(text, headers)).toThrow()
  })

  it('is refused as a replay five minutes later', () => {
    const old = signed(text, secret, undefined, new Date(Date.now() - 301_000))
    expect(() => new StandardWebhook(secret).verify(text, old.headers)).toThrow()
  })
})

it('signs with both secrets after a rotation', async () => {
  const [before, after] = [newSecret(), newSecret()]
  const { text, headers } = signed(bodies.plain, after, before)
  for (const secret of [before, after]) {
    expect(() => new StandardWebhook(secret).verify(text, headers)).not.toThrow()
    expect(() => new SvixWebhook(secret).verify(text, headers)).not.toThrow()
  }
  expect(await verify(after, text, headers['X-Service-Signature'] as string)).toBe(true)
  expect(await verify(before, text, headers['X-Service-Signature-Previous'] as string)).toBe(true)
  expect(signed(bodies.plain, after).headers).not.toHaveProperty('X-Service-Signature-Previous')
})
