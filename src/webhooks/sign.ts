// Signatures: they show a receiver that a delivery is authentic, complete and not a replay.
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** `whsec_` and 32 random bytes in base64. */
export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

export interface Signable {
  eventId: string
  type: string
  /** The bytes that are sent. */
  body: Buffer
  at: Date
}

/**
 * The headers of one attempt. `X-Service-Signature` holds the signature of one secret, the newest. `webhook-signature` of the Standard
 * Webhooks specification lists all. After a rotation, the newest of the previous secrets also signs in its own header.
 */
export function signedHeaders(delivery: Signable, secret: string, previous: readonly string[] = []): Record<string, string> {
  const { eventId, type, body, at } = delivery
  const timestamp = Math.floor(at.getTime() / 1000).toString()
  const secrets = [secret, ...previous]
  const [last] = previous
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'messaging-gateway',
    'X-Service-Event': type,
    'X-Service-Delivery': eventId,
    'X-Service-Signature': serviceSignature(secret, body),
    ...(last ? { 'X-Service-Signature-Previous': serviceSignature(last, body) } : {}),
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((each) => standardSignature(each, `${eventId}.${timestamp}.`, body)).join(' '),
  }
}

/** The key of the HMAC is the whole secret as shown, prefix included. */
function serviceSignature(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** Standard Webhooks: the key of the HMAC is the bytes that the secret encodes. */
function standardSignature(secret: string, head: string, body: Buffer): string {
  // A Buffer as the key takes Node 18 µs, a KeyObject 5 µs.
  const key = createSecretKey(secret.slice(prefix.length), 'base64')
  return `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`
}
