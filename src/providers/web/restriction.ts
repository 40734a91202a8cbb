// Safety signals of the network: codes with which it refuses messages of a restricted account.
import type { App } from '../../core/app.ts'
import type { Host } from './host.ts'
import { isRestriction, noNewChats } from './refusal.ts'
import { noteRefusal } from './sessions.sql.ts'

/** So many refusals with code 463 in 24 hours count as a restriction. */
const mostRefusals = 3

/**
 * One 463 puts the account at risk; three in 24 hours, and each 402 or 403, restrict it. Never rejects: the refusal counts for its message
 * although the signal is lost.
 */
export async function noteRestriction(app: App, host: Host, instanceId: string, code: string): Promise<void> {
  if (!isRestriction(code)) return
  const isOfNewChats = code === noNewChats.code
  const error = `${isOfNewChats ? noNewChats.words : 'the network restricts the account'} (${code})`
  try {
    const restricted = !isOfNewChats || (await noteRefusal(app.pool, instanceId)) >= mostRefusals
    await host.state({ instanceId, restricted, atRisk: true, error })
  } catch (fault) {
    app.log.warn({ instanceId, err: (fault as Error).message }, 'the standing of an account was not stored')
  }
}
