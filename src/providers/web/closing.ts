// Pure rules for a closed connection: the action for each code, and the delays between attempts.

/** A closed connection, as the package reports it. */
export interface Closed {
  /** Undefined if this process closed it. */
  code: number | undefined
  message: string
  /** The cause, if the connection never opened: a code of the system such as ENOTFOUND, or that of the package. */
  unreached?: string | undefined
  /** Attributes of the network's reason. */
  data?: unknown
  /** True if the device is paired. */
  paired: boolean
  /** True if a QR code or a pairing code was shown on this connection. */
  shown: boolean
}

export type Action =
  /** Connect again at once: the network asks for it after pairing. */
  | { do: 'restart' }
  /** Connect again after a delay that grows. */
  | { do: 'retry'; error: string }
  /** The session waits for a new `connect`, because the device was not paired or the network refuses this client. */
  | { do: 'stop'; error: string }
  /** The network takes only a newer version: connect again with that one, a few times. */
  | { do: 'renew'; error: string }
  /** Another connection with this login exists: check which process holds the lease, and stop if that happens often. */
  | { do: 'check_holder' }
  /** The account is banned for a time. */
  | { do: 'wait'; ms: number; error: string }
  /** The device is not linked any more: forget the login. */
  | { do: 'forget'; error: string; restricted: boolean }

/** Another program has the login: each of the two would replace the connection of the other. */
export const contested = 'another program connects with the login of this device again and again (440)'

const outdated = 'the network does not take this version of WhatsApp Web any more (405)'

const stopped: Record<number, string> = {
  409: 'the network refused the name of this device (409)',
  411: 'the phone must turn on several devices first (411)',
  413: 'the network refused this client (413)',
  414: 'the network refused this client (414)',
  415: 'the network refused this client (415)',
  418: 'the network refused this client (418)',
}

/**
 * `restarted`: because of a 515, other than that of its pairing, the instance connected again at once a short time ago. Another 515 counts as
 * a lost connection.
 */
export function actionFor({ code, message, data, paired, shown, unreached }: Closed, restarted = false): Action {
  if (unreached) return { do: 'retry', error: `WhatsApp cannot be reached (${unreached}); the gateway tries again` }
  if (code === 515 && !restarted) return { do: 'restart' }
  if (code === 440) return { do: 'check_holder' }
  if (!paired && shown && (code === 408 || code === 401)) return { do: 'stop', error: 'nobody scanned the code in time' }
  if (code === 401) return { do: 'forget', error: 'the device was removed on the phone (401)', restricted: false }
  if (code === 403) return { do: 'forget', error: 'the network locked the account (403)', restricted: true }
  if (code === 406) return { do: 'forget', error: 'the network banned the account (406)', restricted: true }
  if (code === 402) return { do: 'wait', ms: banMs(data), error: 'the network banned the account for a time (402)' }
  if (code === 405) return { do: 'renew', error: outdated }
  const error = code === undefined ? undefined : stopped[code]
  if (error) return { do: 'stop', error }
  return { do: 'retry', error: `the connection was lost (${code ?? message})` }
}

/** The network names the seconds that a ban lasts; a day where it does not. */
function banMs(data: unknown): number {
  const seconds = Number((data as { expire?: unknown } | undefined)?.expire)
  return 1000 * (Number.isFinite(seconds) && seconds > 0 ? seconds : 86_400)
}

const mostMs = 300_000

/** Milliseconds before the next attempt after `failed` failed ones: doubling from `baseMs`, at most 5 minutes, ±20 %. */
export function reconnectDelayMs(failed: number, baseMs: number, random: () => number = Math.random): number {
  return Math.min(mostMs, baseMs * 2 ** Math.min(failed, 20)) * (0.8 + 0.4 * random())
}
