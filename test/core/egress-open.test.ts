// Proves that a file is opened over few redirects, each checked like the first address.
import { expect, it } from 'vitest'
import { until } from '../kit/until.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { egressWith } from './egress-rig.ts'

const timeoutMs = 20_000

it('follows three redirects, also those whose body has not ended, and no fourth', async () => {
  const host = await openReceiver((request, response) => {
    const left = Number(request.path.slice(1))
    if (left === 0) return void response.writeHead(200, { 'content-type': 'image/png' }).end('file')
    // The rest of the body never comes.
    response.writeHead(302, { location: `/${left - 1}`, 'content-length': '100' }).write('moved')
  })
  const opened = await egressWith().open(`http://127.0.0.1:${host.port}/3`, { timeoutMs })
  if (opened.outcome === 'error') throw new Error(opened.reason)
  expect(opened).toMatchObject({ status: 200, mimeType: 'image/png' })
  const parts: Buffer[] = []
  for await (const part of opened.body) parts.push(part)
  expect(Buffer.concat(parts).toString()).toBe('file')
  expect(host.requests.map(({ path }) => path)).toEqual(['/3', '/2', '/1', '/0'])
  expect(await egressWith().open(`http://127.0.0.1:${host.port}/4`, { timeoutMs })).toMatchObject({ status: 302 })
  expect(host.requests.slice(4).map(({ path }) => path)).toEqual(['/4', '/3', '/2', '/1'])
})

it('closes the connection of an answer that is not 200 at once, because nobody reads its body', async () => {
  let closed = false
  const host = await openReceiver((_, response, socket) => {
    socket.once('close', () => {
      closed = true
    })
    // The rest of the body never comes.
    response.writeHead(404, { 'content-length': '100' }).write('gone')
  })
  expect(await egressWith().open(`http://127.0.0.1:${host.port}/`, { timeoutMs: 60_000 })).toMatchObject({ status: 404 })
  await until(() => closed, { timeoutMs: 10_000 })
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
    expect(await egress.open(`http://127.0.0.1:${host.port}/`, { timeoutMs })).toEqual({
      outcome: 'error',
      reason: 'blocked_address',
    })
  }
  expect(canary.connections).toBe(0)
})
