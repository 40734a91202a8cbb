// Finds the part of a message that this version of the package does not know: a newer kind, which it leaves out when it decodes.
import type { proto } from 'baileys'

/** The content of a message whose content is unknown. */
export const unseen: proto.IMessage = { placeholderMessage: {} }

/** The parts of a message that are no content, with the numbers of their fields. */
const besides: ReadonlyMap<string, number> = new Map([
  ['senderKeyDistributionMessage', 2],
  ['messageContextInfo', 35],
])

/** True if no content was decoded. */
export function saysNothing(message: proto.IMessage): boolean {
  return Object.keys(message).every((name) => besides.has(name))
}

/** True if a message has content, but none was decoded. */
export function isOfNewKind(message: proto.IMessage, encoded: Uint8Array): boolean {
  const known = [...besides.values()]
  return saysNothing(message) && fieldsOf(encoded).some((field) => !known.includes(field))
}

/** The numbers of the fields of an encoded message. Each field is a text or a message, after its length. */
function fieldsOf(encoded: Uint8Array): number[] {
  const fields: number[] = []
  let at = 0
  function number(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = encoded[at++] ?? 0
      value += (byte % 128) * factor
      if (byte < 128) return value
    }
  }
  while (at < encoded.length) {
    fields.push(Math.floor(number() / 8))
    const length = number()
    at += length
  }
  return fields
}
