// Lists of contact ids in requests. A repeated id counts once.
import { z } from 'zod'
import { defineArguments } from '../core/graph/input.ts'
import { parse, uuid } from '../core/validation.ts'

const maxContactIds = 10_000

const uuids = z.array(uuid)
const list = z
  .array(z.unknown())
  .min(1)
  .check(({ value, issues }) => {
    const places = placesOf(value)
    if (places.size > maxContactIds) {
      issues.push({ code: 'custom', message: `must have at most ${maxContactIds} distinct ids`, input: value })
      return
    }
    const ids = [...places.keys()]
    // One parse for all ids: with 10,000 invalid ids, an error object for each takes 60 ms.
    for (const { path, message } of uuids.safeParse(ids).error?.issues ?? []) {
      const id = ids[path[0] as number]
      issues.push({ code: 'custom', message, input: id, path: [places.get(id) as number] })
    }
  })
  .meta({
    description: 'Ids of contacts, 1 to 10,000 distinct ones; duplicates are ignored.',
    items: { type: 'string', format: 'uuid' },
  })

/** The REST bodies with contact ids. */
export const ContactIds = defineArguments('ContactIds', z.object({ contactIds: list }).describe('The contacts to process.'))

/**
 * Distinct ids, in the order of their first occurrence.
 * @throws VALIDATION_ERROR when an id is malformed (the message names the position of each), or the number of ids is out of range.
 */
export function distinctIds(contactIds: readonly string[]): string[] {
  return [...placesOf(parse(ContactIds, { contactIds }).contactIds).keys()] as string[]
}

const members = z.object({ groupId: uuid, contactIds: list })

/**
 * A group, and distinct ids as {@link distinctIds} returns them.
 * @throws VALIDATION_ERROR when one of them is invalid; names the faults of both.
 */
export function groupAndIds(args: { groupId: string; contactIds: readonly string[] }): [groupId: string, contactIds: string[]] {
  const { groupId, contactIds } = parse(members, args)
  return [groupId, [...placesOf(contactIds).keys()] as string[]]
}

/** Position of the first occurrence of each id. Letter case is ignored. */
function placesOf(ids: readonly unknown[]): Map<unknown, number> {
  const places = new Map<unknown, number>()
  for (const [place, id] of ids.entries()) {
    const key = typeof id === 'string' ? id.toLowerCase() : id
    if (!places.has(key)) places.set(key, place)
  }
  return places
}
