// Keywords in inbound texts: each adds its sender to the suppressions of the workspace, or removes it.
import type { Sql } from '../core/database/database.ts'
import { phone } from '../core/phone.ts'
import { defaultKeywords, startWord, wordOf } from './input.ts'
import { readKeywords } from './keywords.sql.ts'
import { deleteListedBefore, insertSuppressions } from './suppressions.sql.ts'

export interface InboundText {
  id: string
  workspaceId: string
  /** The sender; a network may give an id that is no number. */
  from: string
  /** Other numbers to which messages were sent that reach the sender. */
  alsoKnownAs?: readonly string[]
  body: string
  /** When it was written, by the clock of the network. */
  at: Date
}

/** Longest text that can be a keyword, in UTF-16 code units. */
const longest = 200

/**
 * Applies the keywords among new inbound texts, in their order and in the transaction that stores them. A network may hand over a keyword again,
 * or late: one after which its sender wrote another one has no effect, and none takes out a number that was added otherwise after it was
 * written. `outdatedAmong` returns the ids of the former. Returns the texts that added their sender to the list, each with the reply of the
 * workspace if it has one.
 */
export async function applyKeywords<Text extends InboundText>(
  tx: Sql,
  texts: readonly Text[],
  outdatedAmong: (keywords: readonly Text[]) => Promise<ReadonlySet<string>>,
): Promise<{ text: Text; reply: string | null }[]> {
  const short = texts.filter((text) => text.body.length <= longest && numbersOf(text).length > 0)
  if (short.length === 0) return []
  const settings = await readKeywords(tx, [...new Set(short.map(({ workspaceId }) => workspaceId))])
  const found = short.filter(({ workspaceId, body }) => {
    const { keywords = defaultKeywords } = settings.get(workspaceId) ?? {}
    return [startWord, ...keywords].some((keyword) => wordOf(keyword) === wordOf(body))
  })
  if (found.length === 0) return []
  const outdated = await outdatedAmong(found)
  const added: { text: Text; reply: string | null }[] = []
  for (const text of found.filter(({ id }) => !outdated.has(id))) {
    const { workspaceId, body, at } = text
    const numbers = numbersOf(text).map((phone) => ({ workspaceId, phone }))
    if (wordOf(body) === startWord) {
      await deleteListedBefore(tx, numbers, at)
      continue
    }
    const isNew = (await insertSuppressions(tx, numbers, 'keyword')).length > 0
    if (isNew) added.push({ text, reply: settings.get(workspaceId)?.reply ?? null })
  }
  return added
}

/** A network may write a number with digits that no caller may send to, such as those of Mexico with the digit for mobiles. */
function numbersOf({ from, alsoKnownAs = [] }: InboundText): string[] {
  return [from, ...alsoKnownAs].filter((number) => phone.safeParse(number).success)
}
