// A receiver of webhooks.
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { atEnd } from '../kit/at-end.ts'

/** It answers with `status` and `answer`, and keeps the signed requests. */
export async function openReceiver() {
  const receiver = {
    url: '',
    status: 500,
    answer: 'not today',
    requests: [] as { body: string; headers: Record<string, string> }[],
  }
  const server = http.createServer(async (request, response) => {
    receiver.requests.push({ body: await text(request), headers: request.headers as Record<string, string> })
    response.writeHead(receiver.status).end(receiver.answer)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd('test', async () => {
    server.closeAllConnections()
    server.close()
  })
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}
