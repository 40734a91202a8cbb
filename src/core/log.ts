// Logger: one JSON line per event. Keys, tokens, secrets, message texts and full phone numbers are never logged.
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { logOutput } from './log-output.ts'
import { shownJson } from './one-line.ts'

export type Log = Logger

/** Writes to `destination`, by default standard output. */
export function createLog(level: string, destination: DestinationStream = logOutput()): Log {
  const options: LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: ['key', 'token', 'secret', 'password', 'authorization', '*.apiKey', 'req.headers'], remove: true },
  }
  // Operators read the log on terminals, and it contains text of others, for example of mail servers.
  return pino(options, { write: (line) => destination.write(shownJson(line)) })
}

/** The part of an error that may be logged. Databases add the values of the affected row, which are left out. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const { code } = error as { code?: unknown }
  return { type: name, message, code, stack, cause: cause === undefined ? undefined : describeError(cause) }
}
