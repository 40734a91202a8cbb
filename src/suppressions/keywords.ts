// Keywords in inbound texts: each adds its sender to the suppressions of the workspace, or removes it.
import type { Sql } from '../core/database/database.ts'
import { phone } from '../core/phone.ts'
import { defaultKeywords, startWord, wordOf } from './input.ts'
import { readKeywords } from './keywords.sql.ts'
import { deleteSuppressions, insertSuppressions } from './suppressions.sql.ts'

export interface InboundText {
  workspaceId: string
  /** The sender; a network may give an id that is no number. */
  from: string
  /** Other numbers to which messages were sent that reach the sender. */
  alsoKnownAs?: readonly string[]
  body: string
}

/** Longest text that can be a keyword, in UTF-16 code units. */
const longest = 200

/**
 * Applies the keywords among new inbound texts, in their order and in the transaction that stores them. Returns the texts that added their
 * sender to the list, each with the reply of the workspace if it has one.
 */
export async function applyKeywords<Text extends InboundText>(
  tx: Sql,
  texts: readonly Text[],
): Promise<{ text: Text; reply: string | null }[]> {
  const short = texts.filter((text) => text.body.length <= longest && numbersOf(text).length > 0)
  if (short.length === 0) return []
  const settings = await readKeywords(tx, [...new Set(short.map(({ workspaceId }) => workspaceId))])
  const added: { text: Text; reply: string | null }[] = []
  for (const text of short) {
    const { workspaceId, body } = text
    const word = wordOf(body)
    const numbers = numbersOf(text).map((phone) => ({ workspaceId, phone }))
    const { keywords = defaultKeywords, reply = null } = settings.get(workspaceId) ?? {}
    if (word === startWord) await deleteSuppressions(tx, numbers)
    else if (keywords.some((keyword) => wordOf(keyword) === word)) {
      const isNew = (await insertSuppressions(tx, numbers, 'keyword')).length > 0
      if (isNew) added.push({ text, reply })
    }
  }
  return added
}

/** A network may write a number with digits that no caller may send to, such as those of Mexico with the digit for mobiles. */
function numbersOf({ from, alsoKnownAs = [] }: InboundText): string[] {
  return [from, ...alsoKnownAs].filter((number) => phone.safeParse(number).success)
}
