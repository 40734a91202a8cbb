// Bounds how many large audiences are looked up at the same time: each keeps a connection to the database for as long as that takes.
import type { Context } from '../core/context.ts'
import { createShare } from '../core/share.ts'
import type { CampaignFields } from './input.ts'
import { maxRecipients } from './policy.ts'

/**
 * The sizes here are numbers of recipients, not bytes. A workspace has one large audience at a time, and all of them together have half of a
 * process's connections. Without these bounds, ten previews of 20,000 contacts held up every other request for two seconds.
 */
const audiences = createShare({
  lightBytes: 1_000,
  perCaller: maxRecipients,
  total: 5 * maxRecipients,
  mostWaiting: 10,
  waitMs: 30_000,
})

/** A group may have any number of members. */
function weightOf({ recipients, contactIds, groupIds }: CampaignFields): number {
  return groupIds?.length ? maxRecipients : (recipients?.length ?? 0) + (contactIds?.length ?? 0)
}

/**
 * Runs the work on an audience in the turn of its workspace.
 * @throws API_RATE_LIMIT_EXCEEDED when too many large audiences of the workspace wait, or one waits for another of them for too long;
 * SERVICE_UNAVAILABLE when it waits for those of others for too long; as the work does.
 */
export async function inTurn<T>({ principal }: Context, fields: CampaignFields, work: () => Promise<T>): Promise<T> {
  return await audiences.during(principal.workspaceId, weightOf(fields), work)
}
