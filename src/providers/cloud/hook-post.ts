// Reads a post of Meta's webhook: the changes of its entries, each with the number that it is about.
import { openJson } from '../../core/http/json.ts'
import { ownTurn } from '../../core/turns.ts'
import { type Fields, fieldsOf, idOf, listOf } from './values.ts'

/** The items of one number in a change. */
export interface Change {
  phoneNumberId: string
  statuses: readonly unknown[]
  messages: readonly unknown[]
  /** The people who wrote the messages. */
  contacts: readonly unknown[]
}

export interface Post {
  changes: readonly Change[]
  /** Changes about anything other than messages, of which nothing is used. */
  ignored: number
}

/** Bytes that are parsed in one turn of the event loop. */
const blockBytes = 16 * 1024

/** @throws VALIDATION_ERROR when the body is not JSON, or exceeds the limits of JSON bodies. */
export async function readPost(body: Buffer): Promise<Post> {
  const json = openJson({ values: 'bulk' })
  for (let from = 0; from < body.length; from += blockBytes) {
    if (from > 0) await ownTurn()
    json.write(body.subarray(from, from + blockBytes))
  }
  const { object, entry } = fieldsOf(json.end())
  if (object !== 'whatsapp_business_account') return { changes: [], ignored: 1 }
  const found = listOf(entry)
    .flatMap((one) => listOf(fieldsOf(one).changes))
    .map((change) => changeOf(fieldsOf(change)))
  const changes = found.filter((change) => change !== undefined)
  return { changes, ignored: found.length - changes.length }
}

function changeOf({ field, value }: Fields): Change | undefined {
  const { metadata, statuses, messages, contacts } = fieldsOf(value)
  const phoneNumberId = idOf(fieldsOf(metadata).phone_number_id)
  const change = { statuses: listOf(statuses), messages: listOf(messages), contacts: listOf(contacts) }
  if (field !== 'messages' || !phoneNumberId || change.statuses.length + change.messages.length === 0) return undefined
  return { phoneNumberId, ...change }
}
