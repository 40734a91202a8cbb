// The lines of a batch: by recipient, the messages that follow the one of the present turn, in the order in which they leave.
import type { NextMessage } from './claim.ts'
import { recipientOf } from './lines.sql.ts'

/** Each message is in a line until it is taken, so it is taken once. A recipient is named as by {@link recipientOf}. */
export interface BatchLines {
  /** Adds the lines of recipients that have none. */
  add: (messages: readonly NextMessage[]) => void
  /** Takes the line of a recipient. */
  take: (recipient: string) => NextMessage[]
  /** Takes the lines of all recipients but these. Returns the first message of each. */
  takeAllBut: (recipients: ReadonlySet<string>) => NextMessage[]
  /**
   * Takes the ids of the next turn: the first message of each line whose previous message was `sent`. The other lines are taken whole,
   * because the claim decides about each message that follows one that was not sent.
   */
  nextTurn: (sent: ReadonlySet<string>) => string[]
  /** The ids of all messages. */
  ids: () => string[]
}

export function createBatchLines(messages: readonly NextMessage[] = []): BatchLines {
  const lines = Map.groupBy(messages, recipientOf)

  function take(recipient: string): NextMessage[] {
    const line = lines.get(recipient) ?? []
    lines.delete(recipient)
    return line
  }

  return {
    add(others) {
      for (const [recipient, line] of Map.groupBy(others, recipientOf)) lines.set(recipient, line)
    },
    take,
    takeAllBut(recipients) {
      const taken = [...lines.keys()].filter((recipient) => !recipients.has(recipient)).map(take)
      return taken.flatMap(([first]) => first ?? [])
    },
    nextTurn(sent) {
      const turn: string[] = []
      for (const [recipient, line] of lines) {
        const taken = sent.has(recipient) ? line.splice(0, 1) : line.splice(0)
        turn.push(...taken.map(({ id }) => id))
        if (line.length === 0) lines.delete(recipient)
      }
      return turn
    },
    ids: () => [...lines.values()].flat().map(({ id }) => id),
  }
}
