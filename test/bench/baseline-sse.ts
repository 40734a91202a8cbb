// The baseline of `fan-out`: a bare node:http server that writes each event to every subscriber.
import http from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'

const subscribers = new Set<http.ServerResponse>()

/** `POST /publish` takes the texts of events as JSON, `/memory` returns the resident size, any other request subscribes. */
const server = http.createServer(async (request, response) => {
  if (request.url === '/memory') {
    response.end(String(process.memoryUsage.rss()))
    return
  }
  if (request.url !== '/publish') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.flushHeaders()
    subscribers.add(response)
    response.on('close', () => subscribers.delete(response))
    return
  }
  const body: Buffer[] = []
  for await (const chunk of request) body.push(chunk as Buffer)
  for (const text of JSON.parse(Buffer.concat(body).toString()) as string[]) {
    for (const subscriber of subscribers) subscriber.write(text)
    await turn()
  }
  response.end('published')
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`baseline on http://127.0.0.1:${port}`)
})
process.on('SIGTERM', () => process.exit(0))
