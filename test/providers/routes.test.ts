// The HTTP routes of providers: raw bodies for signatures, bounds, and answers, without a credential of ours.
import http from 'node:http'
import { beforeAll, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { maxBodyBytes, openRig, type Rig, secrets, sign } from './rig.ts'

let rig: Rig
let instanceId: string

beforeAll(async () => {
  rig = await openRig()
  const { body } = await rig.api.post('instances', { name: 'Echo', provider: 'web', settings: secrets })
  instanceId = body.data.id
  await rig.api.post(`instances/${instanceId}/connect`)
})

async function stored() {
  const { rows } = await sql(rig.databaseUrl).query(
    `select type, "from", "to", body, "mediaUrl", content, status from messages where direction = 'inbound' and "instanceId" = $1 order by id`,
    [instanceId],
  )
  return rows
}

async function outcome(response: Response): Promise<[number, unknown]> {
  return [response.status, (await response.json()).error]
}

it('answers as the provider says, with the values of path and query', async () => {
  const response = await fetch(`${rig.url}/providers/web/${instanceId}?hub.mode=subscribe&hub.challenge=a%20b%2B1`)
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, 'text/plain', 'a b+1'])
})

it('hands the bytes as they were sent, whatever their type', async () => {
  const body =
    '{ "inbound": [\n {"providerMessageId": "raw", "type": "text", "body": "caff\\u00e8 ☕", "content": {"kind": "text"}} ] }  '
  for (const type of ['application/json', 'application/octet-stream', 'text/html; charset=latin1']) {
    const response = await rig.callBack(instanceId, body, { 'x-signature': sign(body), 'content-type': type })
    expect([response.status, await response.text()]).toEqual([200, ''])
  }
  expect((await stored()).map((row) => row.body)).toEqual(['caffè ☕'])
})

it('stores nothing of a body whose signature is wrong', async () => {
  const body = '{"inbound": [{"providerMessageId": "forged", "type": "text", "body": "forged"}]}'
  for (const signature of ['', sign(body, 'guessed'), sign(`${body} `)]) {
    const headers = { 'x-signature': signature, 'x-api-key': rig.account.apiKey }
    const error = { code: 'UNAUTHORIZED', message: 'Wrong signature' }
    expect(await outcome(await rig.callBack(instanceId, body, headers))).toEqual([401, error])
  }
  expect((await stored()).filter((row) => row.body === 'forged')).toEqual([])
})

it('does not find unknown and deleted instances, those of other providers, and unknown paths', async () => {
  const { body } = await rig.api.post('instances', { name: 'Gone', provider: 'web', settings: secrets })
  await rig.api.delete(`instances/${body.data.id}`)
  const sandbox = (await rig.api.post('instances', { name: 'Sandbox' })).body.data.id
  for (const id of [body.data.id, sandbox, crypto.randomUUID(), 'nonsense'])
    expect(await outcome(await rig.callBack(id, '{}'))).toEqual([404, { code: 'NOT_FOUND', message: 'Instance not found' }])
  for (const path of ['/providers', '/providers/web', '/providers/sandbox/x', `/providers/web/${instanceId}/x`])
    expect((await fetch(rig.url + path, { method: 'POST' })).status, path).toBe(404)
})

it('refuses other methods', async () => {
  const response = await fetch(`${rig.url}/providers/web/${instanceId}`, { method: 'DELETE' })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST'])
})

it('reads bodies up to their limit and refuses longer ones, with and without a declared length', async () => {
  const fits = JSON.stringify({ pad: 'x'.repeat(maxBodyBytes - 10) })
  expect(fits).toHaveLength(maxBodyBytes)
  expect((await rig.callBack(instanceId, fits)).status).toBe(200)
  expect(await chunked([fits.slice(0, 100_000), fits.slice(100_000)])).toBe(200)
  expect((await outcome(await rig.callBack(instanceId, `${fits} `)))[0]).toBe(413)
  expect(await chunked([fits, ' '])).toBe(413)
})

/** Status of a signed post without `Content-Length`. */
async function chunked(parts: string[]): Promise<number | undefined> {
  const headers = { 'x-signature': sign(parts.join('')) }
  const request = http.request(`${rig.url}/providers/web/${instanceId}`, { method: 'POST', headers })
  return await new Promise((resolve, reject) => {
    request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject)
    for (const part of parts) request.write(part)
    request.end()
  })
}

it('answers an unforeseen error without its words, and 503 while the process stops', async () => {
  expect(await outcome(await rig.callBack(instanceId, 'no JSON'))).toEqual([
    500,
    { code: 'INTERNAL_ERROR', message: 'Something went wrong on our side' },
  ])
  rig.app.stopping = true
  const response = await rig.callBack(instanceId, '{}')
  rig.app.stopping = false
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
})

it('stores the parts of inbound messages, once each', async () => {
  await sql(rig.databaseUrl).query(`delete from messages where direction = 'inbound' and "instanceId" = $1`, [instanceId])
  const media = { reference: 'media-1', mimeType: 'image/webp', fileName: null }
  const place = { kind: 'location', latitude: 45.5, longitude: 9.2, name: 'Duomo', address: null }
  const inbound = [
    { type: 'text', body: 'plain', content: { kind: 'text' } },
    { type: 'text', body: 'Yes', content: { kind: 'button', buttonId: 'b1', replyTo: 'wamid.7' } },
    { type: 'image', body: 'a caption', content: { kind: 'image' }, media },
    { type: 'location', body: 'Duomo', content: place },
    { type: 'unknown', body: '👍', content: { kind: 'reaction', reactedTo: 'wamid.8' } },
  ].map((message, i) => ({ providerMessageId: String(i), ...message }))
  const body = JSON.stringify({ inbound })
  for (let i = 0; i < 2; i++) expect((await rig.callBack(instanceId, body)).status).toBe(200)
  const same = { from: '+15550101', to: '+15550100', mediaUrl: null, status: 'received' }
  const kept = inbound.map(({ providerMessageId: _, media, content, ...message }) => {
    return { ...same, ...message, content: media ? { ...content, media } : content }
  })
  expect(await stored()).toEqual(kept)
})

it('applies receipts before it answers', async () => {
  const sent = await rig.api.post('messages/send', { instanceId, to: '+393331234567', type: 'text', text: 'hello' })
  const messageId = sent.body.data.id
  const receipts = [{ messageId, status: 'delivered', providerMessageId: 'wamid.9' }]
  expect((await rig.callBack(instanceId, JSON.stringify({ receipts }))).status).toBe(200)
  expect((await rig.api.get(`messages/${messageId}`)).body.data).toMatchObject({
    status: 'delivered',
    providerMessageId: 'wamid.9',
  })
})
