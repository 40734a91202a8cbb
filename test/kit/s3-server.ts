// A small S3 server on loopback: puts, ranged gets and deletes, for clients that sign as Amazon documents it.
import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface S3Server extends AsyncDisposable {
  url: string
  /** The stored objects, by `/bucket/key`. */
  objects: Map<string, Buffer>
  /** Every request that passed the signature check: `PUT /bucket/key`. */
  seen: string[]
  /** If set, every request is answered with this status. */
  fails: number | undefined
  /** If set, may answer instead of the server; returns whether it did. */
  lies: ((request: IncomingMessage, response: ServerResponse, object: Buffer | undefined) => boolean) | undefined
}

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

export async function openS3(credentials: Credentials): Promise<S3Server> {
  const state: S3Server = {
    url: '',
    objects: new Map(),
    seen: [],
    fails: undefined,
    lies: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const fault = faultOf(request, body, credentials)
    if (fault) return refuse(response, 403, 'SignatureDoesNotMatch', fault)
    if (state.fails) return refuse(response, state.fails, 'InternalError', 'as the test wants it')
    const key = new URL(request.url ?? '/', 'http://s3').pathname
    if (state.lies?.(request, response, state.objects.get(key))) return
    state.seen.push(`${request.method} ${key}`)
    answer(state.objects, request, response, key, body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return state
}

function answer(objects: Map<string, Buffer>, request: IncomingMessage, response: ServerResponse, key: string, body: Buffer) {
  if (request.method === 'PUT') {
    objects.set(key, body)
    return response.writeHead(200, { etag: '"x"' }).end()
  }
  if (request.method === 'DELETE') {
    objects.delete(key)
    return response.writeHead(204).end()
  }
  const object = objects.get(key)
  if (!object) return refuse(response, 404, 'NoSuchKey', 'The specified key does not exist.')
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
  const part = first ? object.subarray(Number(first), Number(last) + 1) : object
  response.writeHead(first ? 206 : 200, { 'content-length': part.length }).end(part)
}

function refuse(response: ServerResponse, status: number, code: string, message: string) {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`)
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()

/** Computes AWS Signature Version 4 again; returns the fault of the signature in the request, or undefined. */
function faultOf({ method, url, headers }: IncomingMessage, body: Buffer, credentials: Credentials): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w{64})$/
  const [, id, day, region, signed = '', signature] = form.exec(headers.authorization ?? '') ?? []
  if (id !== credentials.accessKeyId || region !== credentials.region || !day) return 'not signed by anybody known'
  const contentHash = String(headers['x-amz-content-sha256'])
  if (contentHash !== 'UNSIGNED-PAYLOAD' && contentHash !== sha256(body)) return 'another body was signed'
  const { pathname, searchParams } = new URL(url ?? '/', 'http://s3')
  const query = [...searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).sort()
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = [method, pathname, query.join('&'), lines.join(''), signed, contentHash].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n')
  const key = [day, region as string, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${credentials.secretAccessKey}`)
  return hmac(key, toSign).toString('hex') === signature ? undefined : 'the signature is wrong'
}
