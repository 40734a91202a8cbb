// Schema of phone numbers, used by the whole gateway.
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { z } from 'zod'

/** A number in E.164: `+` and 8 to 15 digits, of a length that its country's numbering plan allows. */
export const phone = z
  .string()
  .refine((value) => /^\+[1-9]\d{7,14}$/.test(value) && parsePhoneNumberFromString(value)?.isPossible() === true, {
    error: 'must be an E.164 number, for example +393331234567',
  })
  .meta({ pattern: '^\\+[1-9]\\d{7,14}$' })
