// Load generator of the benches: reads autocannon's options as JSON from stdin, and writes the figures to stdout.
import { json } from 'node:stream/consumers'
import autocannon from 'autocannon'

const result = await autocannon(await json(process.stdin))
console.log(JSON.stringify({ rate: result['2xx'] / result.duration, failed: result.non2xx + result.errors }))
