// E-mail addresses as people are known by.
import { z } from 'zod'
import { unlessMissing } from '../core/validation.ts'

/** In lower case, whichever way it is written. */
export const email = z
  .email({ error: unlessMissing('must be an e-mail address') })
  .max(254, 'must have at most 254 characters')
  .toLowerCase()
