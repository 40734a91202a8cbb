// Validates the event filter of a caller: every id in it must exist in the caller's own workspace.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { parse, uuid } from '../../core/validation.ts'
import { typeList } from '../log/event-type.ts'
import type { EventFilter } from '../log/log.ts'

export const filterArguments = z.object({
  types: typeList.nullish(),
  instanceId: uuid.nullish().describe('Only events of this instance.'),
  messageId: uuid.nullish().describe('Only events of this message.'),
  campaignId: uuid.nullish().describe('Only events of messages of this campaign.'),
})

/** @throws VALIDATION_ERROR when an argument is malformed (the message names each), NOT_FOUND when the workspace lacks an id. */
export async function filterOf(app: App, workspaceId: string, args: z.input<typeof filterArguments>): Promise<EventFilter> {
  const { types, instanceId, messageId, campaignId } = parse(filterArguments, args)
  if (instanceId) await app.hooks.checkInstance(app.db, workspaceId, instanceId)
  if (messageId) await app.hooks.checkMessage(app.db, workspaceId, messageId)
  if (campaignId) await app.hooks.checkCampaign(app.db, workspaceId, campaignId)
  return { types: types ? [...new Set(types)] : null, instanceId, messageId, campaignId }
}
