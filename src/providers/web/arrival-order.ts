// Hands the messages of a connection to the package one after another, in the order in which the network sent them.
import type { BinaryNode, WASocket } from 'baileys'

type Handle = (stanza: BinaryNode) => Promise<void>

const event = 'CB:message'

/**
 * The package looks up the sender of each message before the message waits for its turn, and these look-ups end in any order. It keeps
 * those that came while the device was away in a line of their own, which later ones overtake. Here all of them are in one line.
 */
export function keepArrivalOrder({ ws }: Pick<WASocket, 'ws'>): void {
  const [handle] = ws.listeners(event) as [Handle]
  ws.off(event, handle)
  let last = Promise.resolve()
  ws.on(event, ({ attrs: { offline: _, ...attrs }, ...stanza }: BinaryNode) => {
    last = last
      // The network offers again what a connection leaves unhandled when it closes.
      .then(() => (ws.isOpen ? handle({ ...stanza, attrs }) : undefined))
      // A failure is reported as one of the package, as without the line.
      .catch((error) => void Promise.reject(error))
  })
}
