// Hands the messages of a connection to the package one after another, in the order in which the network sent them.
import type { BinaryNode, WASocket } from 'baileys'

type Handle = (stanza: BinaryNode) => Promise<void>

const event = 'CB:message'

/**
 * The package looks up the sender of each message before the message waits for its turn, and these look-ups end in any order. It keeps
 * those that came while the device was away in a line of their own, which later ones overtake. Here all of them are in one line. `first`
 * runs before the package confirms a message; if it fails, the network offers the message again.
 */
export function keepArrivalOrder({ ws }: Pick<WASocket, 'ws'>, first: Handle): void {
  const [handle] = ws.listeners(event) as [Handle]
  ws.off(event, handle)
  let last = Promise.resolve()
  ws.on(event, ({ attrs: { offline: _, ...attrs }, ...rest }: BinaryNode) => {
    const stanza = { ...rest, attrs }
    const take = async () => {
      // The network also offers again what a connection leaves unhandled when it closes.
      if (ws.isOpen && (await succeeds(first(stanza)))) await handle(stanza)
    }
    // A failure of the package is reported as one, as without the line.
    last = last.then(take).catch((error) => void Promise.reject(error))
  })
}

async function succeeds(work: Promise<void>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  )
}
