// What any server needs to read a body: bare Node, which parses it and does nothing else, on a machine as slow as it is just now.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { atEnd } from '../kit/kit.ts'

const half = JSON.stringify(Array(60_000).fill('\ud800'))

/** Answers how to have half a megabyte read so many times, which takes a quiet machine about 10 ms each. Ends with the file. */
export async function openBare(): Promise<(times: number) => Promise<void>> {
  const server = createServer(async (request, response) => {
    JSON.parse(await text(request))
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd('file', async () => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return async (times) => {
    for (let i = 0; i < times; i++) await (await fetch(url, { method: 'POST', body: half })).text()
  }
}
