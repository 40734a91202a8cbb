// The event of contacts, which only live streams tell.
import { z } from 'zod'
import type { Sql } from '../core/database/database.ts'
import { nilId } from '../core/id.ts'
import { defineEvent } from '../events/log/define.ts'
import { emit } from '../events/log/emit.ts'

const changes = ['created', 'updated', 'deleted'] as const

export const contactChanged = defineEvent({
  type: 'contact.changed',
  summary: 'A contact was created, updated or deleted, or joined or left a group, or many did',
  live: true,
  payload: z.object({
    contactId: z.uuid().nullable().describe('The contact; null if many changed at once, so that lists are to be read again.'),
    change: z.enum(changes).describe('The kind of change.'),
  }),
  subject: () => ({}),
  sample: { contactId: nilId, change: 'updated' },
})

/** Emits one event for the contacts that changed, in the transaction of the change. A set is one event, however large it is. */
export async function tellContacts(
  tx: Sql,
  workspaceId: string,
  change: (typeof changes)[number],
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await tell(tx, workspaceId, change, ids.length === 1 ? (ids[0] as string) : null)
}

/** Emits one event for contacts that were updated together, without naming them. */
export async function tellUpdatedContacts(tx: Sql, workspaceId: string): Promise<void> {
  await tell(tx, workspaceId, 'updated', null)
}

async function tell(tx: Sql, workspaceId: string, change: (typeof changes)[number], contactId: string | null): Promise<void> {
  await emit(tx, [contactChanged.event({ contactId, change }, { workspaceId, at: new Date() })])
}
