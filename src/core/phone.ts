// Schema of phone numbers, used by the whole gateway.
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { z } from 'zod'

/**
 * Cache by number: true if its length is allowed by the numbering plan of its country. libphonenumber takes 4.5 µs for a number, and most
 * messages go to a number that had one before.
 */
const possible = new Map<string, boolean>()
const mostKept = 20_000

function isPossible(number: string): boolean {
  const known = possible.get(number)
  if (known !== undefined) return known
  const verdict = parsePhoneNumberFromString(number)?.isPossible() === true
  if (possible.size >= mostKept) possible.clear()
  possible.set(number, verdict)
  return verdict
}

/** A number in E.164: `+` and 8 to 15 digits, of a length that its country's numbering plan allows. */
export const phone = z
  .string()
  .refine((value) => /^\+[1-9]\d{7,14}$/.test(value) && isPossible(value), {
    error: 'must be an E.164 number, for example +393331234567',
  })
  .meta({ pattern: '^\\+[1-9]\\d{7,14}$' })
