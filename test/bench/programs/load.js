// Load generator of the benches: reads autocannon's options as JSON from stdin, and writes the figures to stdout.
import { json } from 'node:stream/consumers'
import autocannon from 'autocannon'

const { spread, ...options } = await json(process.stdin)
let connected = 0
/** Lets each connection begin at another request; by default all begin at the first one. */
function begin(client) {
  const { requests, connections } = options
  const place = Math.floor((connected++ * requests.length) / connections)
  client.setRequests([...requests.slice(place), ...requests.slice(0, place)])
}
const result = await autocannon({ ...options, ...(spread && { setupClient: begin }) })
console.log(JSON.stringify({ rate: result['2xx'] / result.duration, failed: result.non2xx + result.errors }))
