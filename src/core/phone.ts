// Phone numbers, as the whole gateway takes them.
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { z } from 'zod'

/** A number in E.164: `+` and 8 to 15 digits that some country could have given out. */
export const phone = z
  .string()
  .refine((value) => /^\+[1-9]\d{7,14}$/.test(value) && parsePhoneNumberFromString(value)?.isPossible() === true, {
    error: 'must be an E.164 number, for example +393331234567',
  })
  .meta({ pattern: '^\\+[1-9]\\d{7,14}$' })
