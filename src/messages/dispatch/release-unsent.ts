// Releases the leases of attempts that are to be repeated, and cancels those of their messages that must not be attempted again.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { type Released, releaseLeases } from './settle.sql.ts'
import type { Withdrawn } from './withdraw.sql.ts'
import { withdrawMessages } from './withdraw.ts'

export interface Unsent {
  id: string
  token: string
  /** The contact of the message when it was claimed. */
  contactId: string | null
  /** True if the network may have the message, by this attempt or an earlier one. */
  mayHaveLeft: boolean
}

interface Retried extends Unsent {
  delayMs: number
  /** True if the attempt counts towards the limit of attempts. */
  counts: boolean
}

/**
 * `count`: the messages that still had their lease. `released`: those that are attempted again, which need a job or a hold. `withdrawn`: those
 * that are not, whose quota the caller gives back.
 */
export async function releaseUnsent(
  app: App,
  tx: Sql,
  unsent: readonly Retried[],
): Promise<{ count: number; released: Released[]; withdrawn: Withdrawn[] }> {
  if (unsent.length === 0) return { count: 0, released: [], withdrawn: [] }
  const byId = new Map(unsent.map((message) => [message.id, message]))
  const rows = await releaseLeases(tx, unsent)
  const unwanted = new Set(rows.filter((row) => lostContact(row, byId.get(row.id) as Unsent)))
  const withdrawn = await withdrawMessages(
    tx,
    [...unwanted].map(({ id }) => ({ id, error: 'CONTACT_DELETED' })),
  )
  const released = rows.filter((row) => !unwanted.has(row))
  // A campaign that was stopped during the attempt could not take these messages back then.
  await app.hooks.enqueueTakeBack(
    app,
    tx,
    released.flatMap(({ campaignId }) => campaignId ?? []),
  )
  return { count: rows.length, released, withdrawn }
}

/** True if the contact of a campaign's message was deleted during its attempt. */
function lostContact({ campaignId, contactId }: Released, claimed: Unsent): boolean {
  return campaignId !== null && contactId === null && claimed.contactId !== null && !claimed.mayHaveLeft
}
