// A minimal reader of server-sent events, which keeps everything it receives and can stop reading.
import http from 'node:http'
import { atEnd } from '../kit/at-end.ts'

export interface SseBlock {
  event: string | undefined
  id: string | undefined
  data: string | undefined
  retry: string | undefined
}

export interface SseReader {
  /** The status of the response, once it has arrived. */
  status: number | undefined
  headers: http.IncomingHttpHeaders
  /** Every block that has data, in order. */
  events: SseBlock[]
  /** Every block without data: beginnings, heartbeats, retry hints. */
  others: SseBlock[]
  /** The whole body, for responses that are not a stream. */
  text: string
  ended: boolean
  bytes: number
  pause: () => void
  resume: () => void
  close: () => void
}

export interface SseOptions {
  headers?: Record<string, string>
  method?: string
  /** Sent as JSON, by POST unless `method` says otherwise. */
  body?: unknown
}

/** Opens a stream and reads it until it is closed. Resolves when the server has answered. */
export async function openSse(url: string | URL, options: SseOptions = {}): Promise<SseReader> {
  const { headers, body, method = body === undefined ? 'GET' : 'POST' } = options
  const reader: SseReader = {
    status: undefined,
    headers: {},
    events: [],
    others: [],
    text: '',
    ended: false,
    bytes: 0,
    pause: () => request.socket?.pause(),
    resume: () => request.socket?.resume(),
    close: () => request.destroy(),
  }
  const request = http.request(url, {
    method,
    agent: false,
    headers: {
      accept: 'text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  request.end(body === undefined ? undefined : JSON.stringify(body))
  atEnd('test', async () => {
    request.destroy()
  })
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  request.on('error', () => {})
  reader.status = response.statusCode
  reader.headers = response.headers
  let rest = ''
  const isStream = response.headers['content-type']?.startsWith('text/event-stream')
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    reader.bytes += Buffer.byteLength(text)
    if (!isStream) reader.text += text
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) keep(reader, block)
  })
  const end = () => {
    reader.ended = true
  }
  response.on('end', end).on('close', end).on('error', end)
  return reader
}

function keep(reader: SseReader, text: string): void {
  const fields = new Map<string, string>()
  for (const line of text.split('\n')) {
    const at = line.indexOf(':')
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''))
  }
  const block = { event: fields.get('event'), id: fields.get('id'), data: fields.get('data'), retry: fields.get('retry') }
  if (block.data === undefined) reader.others.push(block)
  else reader.events.push(block)
}
