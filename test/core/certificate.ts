// Creates TLS certificates for tests: enough of X.509 for valid, expired, wrong-host and self-signed ones.
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface Certificate {
  key: string
  cert: string
}

export interface CertificateOptions {
  /** The IPv4 address that it is valid for. */
  address: string
  /** The days from today until it expires; negative for an expired one. */
  days?: number
  /** The certificate that signs it; without one it is self-signed and may sign others. */
  issuer?: Certificate
}

export function makeCertificate({ address, days = 1, issuer }: CertificateOptions): Certificate {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const subject = name(issuer ? 'receiver' : 'test authority')
  const issuerName = name('test authority')
  const day = 86_400_000
  const until = Date.now() + days * day
  const authority = seq(oid('551d13'), octets(seq(...(issuer ? [] : [Buffer.from([1, 1, 0xff])]))))
  const forAddress = seq(oid('551d11'), octets(seq(tag(0x87, Buffer.from(address.split('.').map(Number))))))
  const body = seq(
    tag(0xa0, integer(2)),
    integer(Math.floor(Math.random() * 2 ** 31)),
    seq(oid(ecdsaWithSha256)),
    issuerName,
    seq(time(until - 400 * day), time(until)),
    subject,
    pair.publicKey.export({ type: 'spki', format: 'der' }),
    tag(0xa3, seq(authority, forAddress)),
  )
  const signer: KeyObject = issuer ? createPrivateKey(issuer.key) : pair.privateKey
  const signature = sign('sha256', body, signer)
  const der = seq(body, seq(oid(ecdsaWithSha256)), tag(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return { key: privateKey, cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n` }
}

const ecdsaWithSha256 = '2a8648ce3d040302'

function tag(type: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([type, ...size]), content])
}

function seq(...parts: Buffer[]): Buffer {
  return tag(0x30, Buffer.concat(parts))
}

function oid(hex: string): Buffer {
  return tag(0x06, Buffer.from(hex, 'hex'))
}

function octets(content: Buffer): Buffer {
  return tag(0x04, content)
}

function integer(value: number): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  return tag(0x02, (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
}

function name(common: string): Buffer {
  return seq(tag(0x31, seq(oid('550403'), tag(0x0c, Buffer.from(common)))))
}

function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/[-:T]|\..*/g, '')
  return tag(0x18, Buffer.from(`${digits}Z`))
}
