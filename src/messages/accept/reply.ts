// Sends the reply to a keyword, in the transaction that stores the inbound text.
import { reserveInTurn } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { emit } from '../../events/log/emit.ts'
import { enqueueNew } from '../dispatch/enqueue-new.ts'
import { messageEvent } from '../events.ts'
import { safetyCache } from '../safety/safety.ts'
import { compose } from './compose.ts'
import { insertMessages } from './insert.sql.ts'
import { lookUp } from './look-up.ts'
import { readPayers } from './reply.sql.ts'
import { composeRows, type NewMessage } from './rows.ts'

/** An inbound text, and the text that answers it. */
export interface Reply {
  workspaceId: string
  instanceId: string
  from: string
  reply: string
}

/** Accepts replies, which leave although their recipients are in the do-not-contact list. Without quota or subscription, none leaves. */
export async function acceptReplies(app: App, tx: Sql, replies: readonly Reply[]): Promise<void> {
  if (replies.length === 0) return
  const payers = await readPayers(tx, [...new Set(replies.map(({ workspaceId }) => workspaceId))])
  const submissions = replies.flatMap(({ workspaceId, instanceId, from, reply }) => {
    const payer = payers.get(workspaceId)
    const input = { instanceId, to: from, type: 'text' as const, text: reply }
    return payer ? [{ principal: { ...payer, userId: payer.ownerId }, input }] : []
  })
  const records = await lookUp(app, tx, submissions)
  await safetyCache(app).load(
    submissions.map(({ input }) => input),
    tx,
  )
  const turns = await reserveInTurn(
    tx,
    submissions.map(({ principal }) => ({ ...principal, counts: true })),
  )
  const drafts = submissions.flatMap((submission, i): NewMessage[] => {
    const instance = records.instance(submission)
    const turn = turns[i]
    if (!turn?.fits || !instance) return []
    const { principal, input } = submission
    const composed = compose(input, records.contact(submission))
    const fixed = {
      id: newId(),
      createdAt: turn.at,
      scheduledAt: null,
      campaignId: null,
      reference: null,
      ignoresSuppression: true,
    }
    return [{ ...fixed, principal, instance, to: input.to, ...composed }]
  })
  const messages = composeRows(app, drafts)
  await Promise.all([
    insertMessages(tx, messages),
    enqueueNew(
      app,
      tx,
      messages,
      drafts.map(({ instance }) => instance.holder),
    ),
    emit(
      tx,
      messages.map((message) => messageEvent(message, 'queued', message.createdAt)),
    ),
  ])
}
