// Failpoints: named places, one at each commit boundary, where a test can make the process die, throw or pause.
import { setTimeout as pause } from 'node:timers/promises'

export type Failpoint =
  | 'api.after_commit_before_reply'
  | 'send.after_claim'
  | 'send.before_provider'
  | 'send.after_provider_accept'
  | 'send.before_commit'
  | 'send.after_commit_before_ack'
  | 'campaign.mid_page'
  | 'media.before_put'
  | 'media.after_put'
  | 'media.before_remove'
  | 'hook.before_post'
  | 'hook.after_2xx_before_commit'
  | 'bulk.mid_chunk'
  | 'redeliver.mid_chunk'
  | 'import.mid_chunk'
  | 'erase.between_batches'
  | 'account.between_batches'
  | 'teams.mid_close'

export type FailpointHit = (name: Failpoint) => Promise<void>

const idle: FailpointHit = async () => {}

/**
 * Parses `name[:n]=kill|throw|sleep[:ms]`. The action runs at the n-th hit of that place only (default 1); a pause lasts 15 s by
 * default.
 */
export function createFailpoint(spec: string | undefined): FailpointHit {
  const match = spec?.match(/^([a-z_.0-9]+)(?::(\d+))?=(kill|throw|sleep)(?::(\d+))?$/)
  if (!match) return idle
  const [, name, nth = '1', action, ms = '15000'] = match
  let hits = 0
  return async (at) => {
    if (at !== name || ++hits !== Number(nth)) return
    if (action === 'kill') process.kill(process.pid, 'SIGKILL')
    if (action === 'throw') throw new Error(`failpoint ${name}`)
    await pause(Number(ms))
  }
}
