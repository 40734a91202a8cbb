// One JSON line an event. Keys, tokens, secrets, texts and full phone numbers never get here.
import { type Logger, pino } from 'pino'

export type Log = Logger

export function createLog(level: string): Log {
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: ['key', 'token', 'secret', 'password', 'authorization', '*.apiKey', 'req.headers'], remove: true },
  })
}

/** What of an error may be logged: databases add the values of the row that it is about. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const { code } = error as { code?: unknown }
  return { type: name, message, code, stack, cause: cause === undefined ? undefined : describeError(cause) }
}
