// Proves that reading a file follows few redirects, checks each like the first address, and is bounded.
import { expect, it } from 'vitest'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { egressWith } from './egress-rig.ts'

const bounds = { maxBytes: 1_000, timeoutMs: 20_000 }

it('follows three redirects, also those whose body has not ended, and no fourth', async () => {
  const host = await openReceiver((request, response) => {
    const left = Number(request.path.slice(1))
    if (left === 0) return void response.writeHead(200, { 'content-type': 'image/png' }).end('file')
    // The rest of the body never comes.
    response.writeHead(302, { location: `/${left - 1}`, 'content-length': '100' }).write('moved')
  })
  const at = (redirects: number) => egressWith().get(`http://127.0.0.1:${host.port}/${redirects}`, bounds)
  expect(await at(3)).toEqual({ outcome: 'response', status: 200, mimeType: 'image/png', body: Buffer.from('file') })
  expect(host.requests.map(({ path }) => path)).toEqual(['/3', '/2', '/1', '/0'])
  expect(await egressWith().get(`http://127.0.0.1:${host.port}/4`, { ...bounds, timeoutMs: 500 })).not.toMatchObject({
    status: 200,
  })
  expect(host.requests.slice(4).map(({ path }) => path)).toEqual(['/4', '/3', '/2', '/1'])
})

it('is refused where a redirect leads into a private network, by address or by name', async () => {
  const canary = await openReceiver()
  for (const location of [
    `http://127.0.0.2:${canary.port}/`,
    `http://[::1]:${canary.port}/`,
    `https://inside.example:${canary.port}/`,
    'file:///etc/passwd',
  ]) {
    const host = await openReceiver(status(307, { location }, 'moved'))
    const egress = egressWith({ resolve: async () => ['10.0.0.1'] })
    expect(await egress.get(`http://127.0.0.1:${host.port}/`, bounds)).toEqual({ outcome: 'error', reason: 'blocked_address' })
  }
  expect(canary.connections).toBe(0)
})

it('ends at the most bytes', async () => {
  const host = await openReceiver(status(200, {}, 'x'.repeat(1_001)))
  expect(await egressWith().get(host.url, bounds)).toEqual({ outcome: 'too_large' })
})
