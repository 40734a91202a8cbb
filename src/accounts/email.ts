// E-mail addresses as people are known by.
import { z } from 'zod'
import { unlessMissing } from '../core/validation.ts'

/** In lower case, whichever way it is written. */
export const email = z
  .email({ error: unlessMissing('must be an e-mail address') })
  .max(254, 'must have at most 254 characters')
  .toLowerCase()

/**
 * The mailbox that an address leads to at most providers: without what follows a `+`, in lower case. What is counted for a
 * recipient is counted by it, or `name+1@`, `name+2@` and so on would be so many recipients.
 */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@')
  const [local = ''] = address.slice(0, at).split('+')
  return `${local}${address.slice(at)}`.toLowerCase()
}
