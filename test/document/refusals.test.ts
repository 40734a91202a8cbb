// Proves that the document of keys names the headers of refusals.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { type Answer, api } from '../kit/api.ts'
import { apiDocument } from '../kit/document.ts'
import { nobody, openRig, text } from '../rest-compat/rig.ts'

const { components, paths } = apiDocument()
const ofEach = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy']

/** Expects that the document names each of its headers that the refusal has, and returns them. */
function expectNamed({ status, headers }: Answer, path: string, method: 'get' | 'post'): string[] {
  const { $ref } = (paths[path]?.[method]?.responses[status] ?? {}) as { $ref?: string }
  const response = components.responses[$ref?.split('/').at(-1) ?? ''] as { headers: object }
  const sent = Object.keys(components.headers).filter((name) => headers.has(name))
  expect(Object.keys(response.headers), `${method} ${path} ${status}`).toEqual(expect.arrayContaining(sent))
  return sent
}

it('of one that is invalid, that is repeated, that finds nothing, and whose caller is unknown', async () => {
  const { gateway, tenant } = await openRig()
  const repeated = { 'idempotency-key': randomUUID() }
  const send = async () => await tenant.api.post('messages/send', text(tenant, { to: '5' }), repeated)
  expect(expectNamed(await send(), '/messages/send', 'post')).toEqual(ofEach)
  expect(expectNamed(await send(), '/messages/send', 'post')).toEqual([...ofEach, 'Idempotency-Replayed'])
  expect(expectNamed(await tenant.api.get(`messages/${nobody}`), '/messages/{id}', 'get')).toEqual(ofEach)
  const unknown = await api(gateway).get('messages')
  expect(expectNamed(unknown, '/messages', 'get')).toEqual(['X-Request-Id', 'WWW-Authenticate'])
})
