// The file servers of the loopback network: devices upload encrypted files there, and phones read them or upload their own.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { getMediaKeys, type MediaType } from 'baileys'
import { makeCertificate } from '../core/certificate.ts'
import { atEnd } from '../kit/at-end.ts'
import type { Loopback } from './loopback.ts'

/** The fields of a message that describe its file. */
interface FileMessage {
  directPath?: string | null
  mediaKey?: Uint8Array | null
}

export interface Files {
  /** The certificate of the server (PEM), for gateways in other processes. */
  certificate: string
  /** Paths of the uploads, in their order. */
  uploads: string[]
  /** This many of the next uploads fail. */
  failing: number
  /** Decrypts the file of a message, as a phone does. */
  fileOf: (message: FileMessage | null | undefined, kind: MediaType) => Promise<Buffer>
}

const macBytes = 10

async function keysOf(mediaKey: Buffer, kind: MediaType) {
  const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, kind)
  const mac = (body: Buffer) =>
    createHmac('sha256', macKey as Uint8Array)
      .update(iv)
      .update(body)
      .digest()
      .subarray(0, macBytes)
  return { iv, cipherKey, mac }
}

/** Encrypts a file, as a phone does before its upload. */
export async function sealFile(bytes: Uint8Array, kind: MediaType): Promise<{ sealed: Buffer; mediaKey: Buffer }> {
  const mediaKey = randomBytes(32)
  const { iv, cipherKey, mac } = await keysOf(mediaKey, kind)
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv)
  const body = Buffer.concat([cipher.update(bytes), cipher.final()])
  return { sealed: Buffer.concat([body, mac(body)]), mediaKey }
}

/** Opens a file server that devices in this process trust, until the end of the file. */
export async function openFiles(network: Loopback): Promise<Files> {
  const certificate = makeCertificate({ address: '127.0.0.1' })
  const stored = new Map<string, Buffer>()
  const uploads: string[] = []
  const server = https.createServer(certificate, async (request, response) => {
    if (files.failing > 0) {
      files.failing--
      return void response.writeHead(503).end()
    }
    const path = new URL(request.url as string, 'https://files').pathname
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    stored.set(path, Buffer.concat(chunks))
    uploads.push(path)
    response.end(JSON.stringify({ url: `https://mmg.whatsapp.net${path}`, direct_path: path }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  network.mediaHost = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const { options } = https.globalAgent
  const { ca } = options
  options.ca = [certificate.cert]
  atEnd('file', async () => {
    options.ca = ca
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const files: Files = {
    certificate: certificate.cert,
    uploads,
    failing: 0,
    async fileOf(message, kind) {
      const sealed = stored.get(message?.directPath as string) as Buffer
      const { iv, cipherKey, mac } = await keysOf(Buffer.from(message?.mediaKey as Uint8Array), kind)
      const body = sealed.subarray(0, -macBytes)
      if (!mac(body).equals(sealed.subarray(-macBytes))) throw new Error('the file was changed on its way')
      const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
      return Buffer.concat([decipher.update(body), decipher.final()])
    },
  }
  return files
}
