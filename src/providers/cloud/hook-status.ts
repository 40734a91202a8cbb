// Translates a status of Meta's webhook into a receipt.
import { isId } from '../../core/id.ts'
import { numberOf, timeOf } from '../given-values.ts'
import type { Receipt, ReceiptStatus } from '../reports.ts'
import { failureOf, wordsOf } from './errors.ts'
import { type CloudSettings, type KnownCloudInstance, secretsOf } from './settings.ts'
import { fieldsOf, idOf, listOf, textOf } from './values.ts'

/** `played` is said of voice messages, after `read`. */
const statuses: ReadonlyMap<unknown, ReceiptStatus> = new Map([
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
  ['failed', 'failed'],
])

/** Returns undefined for a status that says nothing about a message, or that this gateway does not know. */
export function receiptOf({ id: instanceId, settings }: KnownCloudInstance, item: unknown): Receipt | undefined {
  const { id, status: name, timestamp, biz_opaque_callback_data: data, errors } = fieldsOf(item)
  const status = statuses.get(name)
  const providerMessageId = idOf(id)
  if (!status || !providerMessageId) return undefined
  const messageId = isId(data) ? data : undefined
  const receipt = { instanceId, messageId, providerMessageId, status, at: timeOf(timestamp) }
  return status === 'failed' ? { ...receipt, ...reasonIn(errors, settings) } : receipt
}

function reasonIn(errors: unknown, settings: Partial<CloudSettings>): Partial<Receipt> {
  const { code, title, message, error_data: data } = fieldsOf(listOf(errors)[0])
  const words = textOf(fieldsOf(data).details) ?? textOf(message) ?? textOf(title) ?? ''
  const number = numberOf(code)
  if (number === undefined) return { error: 'PROVIDER_ERROR', detail: wordsOf(words, secretsOf(settings)) || undefined }
  return failureOf(number, words, secretsOf(settings))
}
