// Id of a message on the network, made from the gateway's own id: a second try is the same message, and the recipient sees it once.
import { createHash } from 'node:crypto'

export function stanzaIdOf(messageId: string): string {
  return `3EB0${createHash('sha256').update(messageId).digest('hex').slice(0, 18).toUpperCase()}`
}
