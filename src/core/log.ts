// One JSON line an event. Keys, tokens, secrets, texts and full phone numbers never get here.
import { type Logger, pino } from 'pino'

export type Log = Logger

export function createLog(level: string): Log {
  return pino({
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: ['key', 'token', 'secret', 'password', 'authorization', '*.apiKey', 'req.headers'], remove: true },
  })
}

/** A phone number as logs show it: the country's beginning and the last two digits. */
export function maskPhone(phone: string): string {
  return phone.length < 6 ? '…' : `${phone.slice(0, 3)}…${phone.slice(-2)}`
}
