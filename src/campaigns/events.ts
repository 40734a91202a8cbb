// The event of campaigns, which only live streams tell.
import { z } from 'zod'
import type { Sql } from '../core/database/database.ts'
import { nilId } from '../core/id.ts'
import { defineEvent } from '../events/log/define.ts'
import { emit } from '../events/log/emit.ts'
import { CampaignStatus } from '../generated/prisma/enums.ts'
import { readHead } from './campaigns.sql.ts'

export const campaignChanged = defineEvent({
  type: 'campaign.changed',
  summary: 'A campaign was created, or its status or settings changed',
  live: true,
  payload: z.object({
    campaignId: z.uuid().describe('The campaign of the event.'),
    instanceId: z.uuid().describe('The instance that sends its messages.'),
    status: z.enum(CampaignStatus).describe('The present status.'),
    error: z.string().nullable().describe('Why it was paused automatically or failed, as a code.'),
  }),
  subject: ({ campaignId, instanceId }) => ({ campaignId, instanceId }),
  sample: { campaignId: nilId, instanceId: nilId, status: 'running', error: null },
})

/** Emits the event of a campaign with its present status, in the transaction that changed it. */
export async function tellCampaign(tx: Sql, id: string): Promise<void> {
  const head = await readHead(tx, id)
  if (!head) return
  const { workspaceId, ...fields } = head
  await emit(tx, [campaignChanged.event({ campaignId: id, ...fields }, { workspaceId, at: new Date() })])
}
