// The baseline of `console`: a bare node:http server with a bare React page.
import { mkdtemp, readFile } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import type { BareRow } from './bare-page.ts'

const outDir = await mkdtemp(path.join(tmpdir(), 'bare-page-'))
await build({
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  build: {
    outDir,
    rolldownOptions: { input: path.join(import.meta.dirname, 'bare-page.ts'), output: { entryFileNames: 'page.js' } },
  },
})
const script = gzipSync(await readFile(path.join(outDir, 'page.js')), { level: 9 })
const html =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Bare</title><div id="root"></div><script type="module" src="/page.js"></script>'
const rows: BareRow[] = Array.from({ length: 50 }, (_, n) => ({
  id: String(n),
  to: `+49151${2_000_001 + n}`,
  body: `Message ${n + 1}`,
  status: 'Queued',
}))
const readers = new Set<http.ServerResponse>()

/** `POST /publish` takes a status and moves the first 20 rows to it. */
const server = http.createServer(async (request, response) => {
  if (request.url === '/page.js') {
    response.writeHead(200, {
      'content-type': 'text/javascript',
      'content-encoding': 'gzip',
      'cache-control': 'max-age=31536000',
    })
    response.end(script)
  } else if (request.url === '/rows') response.end(JSON.stringify(rows))
  else if (request.url === '/changes') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    readers.add(response)
    response.on('close', () => readers.delete(response))
  } else if (request.url === '/publish') {
    const status = await text(request)
    for (const row of rows.slice(0, 20)) {
      row.status = status
      for (const reader of readers) reader.write(`data: ${JSON.stringify(row)}\n\n`)
    }
    response.end()
  } else response.writeHead(200, { 'content-type': 'text/html' }).end(html)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`baseline on http://127.0.0.1:${port}`)
})
process.on('SIGTERM', () => process.exit(0))
