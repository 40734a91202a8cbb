// Validation and normalization of e-mail addresses.
import { z } from 'zod'
import { unlessMissing } from '../core/validation.ts'

/** Accepts any case and returns lower case. */
export const email = z
  .email({ error: unlessMissing('must be an e-mail address') })
  .max(254, 'must have at most 254 characters')
  .toLowerCase()

/**
 * Returns the mailbox that an address reaches at most providers: without the `+` suffix of the local part, in lower case. Counters per
 * recipient use it in their key. Otherwise `name+1@`, `name+2@` and so on would each get a separate counter.
 */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@')
  const [local = ''] = address.slice(0, at).split('+')
  return `${local}${address.slice(at)}`.toLowerCase()
}
