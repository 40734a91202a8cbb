// The baseline of `webhooks`: a bare loop of undici that posts one body to each URL it is given, many at once.
import Fastify from 'fastify'
import { Agent, request } from 'undici'

const agent = new Agent()
const http = Fastify({ bodyLimit: 64 * 1024 * 1024 })

http.post('/post', async ({ body }) => {
  const { urls, text, concurrency } = body as { urls: string[]; text: string; concurrency: number }
  let next = 0
  async function client(): Promise<void> {
    while (next < urls.length) {
      const answer = await request(urls[next++] as string, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text,
      })
      await answer.body.dump()
    }
  }
  const begin = performance.now()
  await Promise.all(Array.from({ length: concurrency }, client))
  return { rate: urls.length / ((performance.now() - begin) / 1000) }
})

console.log(`baseline on ${await http.listen({ port: 0, host: '127.0.0.1' })}`)
process.on('SIGTERM', () => process.exit(0))
