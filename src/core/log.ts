// One JSON line an event. Keys, tokens, secrets, texts and full phone numbers never get here.
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { shownJson } from './one-line.ts'

export type Log = Logger

/** Writes to `destination`, which is standard output unless told otherwise. */
export function createLog(level: string, destination: DestinationStream = pino.destination(1)): Log {
  const options: LoggerOptions = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: ['key', 'token', 'secret', 'password', 'authorization', '*.apiKey', 'req.headers'], remove: true },
  }
  // Operators read it on terminals, and others' words are in it: those of mail servers, for example.
  return pino(options, { write: (line) => destination.write(shownJson(line)) })
}

/** What of an error may be logged: databases add the values of the row that it is about. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const { code } = error as { code?: unknown }
  return { type: name, message, code, stack, cause: cause === undefined ? undefined : describeError(cause) }
}
