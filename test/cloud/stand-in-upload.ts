// Uploads to the stand-in: reads a multipart body as strictly as RFC 7578 allows, and refuses files that Meta does not take.
import type http from 'node:http'
import { checkSize, kindOf, Refusal } from './stand-in-check.ts'

interface Part {
  headers: string
  content: Buffer
}

/** @throws Refusal */
export function readUpload({ headers, body }: { headers: http.IncomingHttpHeaders; body: Buffer }): {
  mimeType: string
  bytes: Buffer
} {
  const boundary = /^multipart\/form-data; boundary=([\w-]{1,70})$/.exec(headers['content-type'] ?? '')?.[1]
  if (!boundary || headers['content-length'] !== String(body.length))
    throw new Refusal(100, 'The body must be multipart/form-data')
  const parts = new Map(partsOf(body, boundary).map((part) => [/; name="(\w+)"/.exec(part.headers)?.[1], part]))
  if (parts.get('messaging_product')?.content.toString() !== 'whatsapp') throw new Refusal(100, 'messaging_product is required')
  const type = parts.get('type')?.content.toString()
  const file = parts.get('file')
  if (!file || !/; filename="[^"]+"/.test(file.headers)) throw new Refusal(100, 'The parameter file is required')
  const mimeType = /\r\nContent-Type: ([^\r]+)/.exec(file.headers)?.[1]
  if (mimeType === undefined || mimeType !== type || !kindOf(mimeType)) {
    throw new Refusal(100, `Param file must be a file with one of the supported types. Received file of type '${mimeType}'.`)
  }
  checkSize(mimeType, file.content.length)
  return { mimeType, bytes: file.content }
}

function partsOf(body: Buffer, boundary: string): Part[] {
  const parts: Part[] = []
  const mark = Buffer.from(`\r\n--${boundary}`)
  // The first boundary stands at the very beginning.
  const whole = Buffer.concat([Buffer.from('\r\n'), body])
  let from = whole.indexOf(mark)
  while (from >= 0) {
    const start = from + mark.length
    const next = whole.indexOf(mark, start)
    if (next < 0) {
      if (whole.subarray(start).toString() !== '--\r\n') throw new Refusal(100, 'The body ends too early')
      return parts
    }
    const part = whole.subarray(start, next)
    const split = part.indexOf('\r\n\r\n')
    parts.push({ headers: part.subarray(0, split).toString(), content: Buffer.from(part.subarray(split + 4)) })
    from = next
  }
  throw new Refusal(100, 'The body has no parts')
}
