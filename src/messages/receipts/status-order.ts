// How far receipts take a message: up one status after the other, never back.
import type { MessageStatus } from '../../generated/prisma/client.ts'
import type { ReceiptStatus } from '../../providers/provider.ts'

const rank = { queued: 0, sending: 1, sent: 2, delivered: 3, read: 4 } as const
const ladder = ['sent', 'delivered', 'read'] as const

/**
 * The statuses that a receipt makes a message reach, in order: none for what is late, repeated or impossible. While nobody
 * knows what became of a send, a receipt tells it, however late. Once the message has failed with UNKNOWN_OUTCOME none does:
 * callers were told the end, and a status that was final for them never becomes another.
 */
export function reached(status: MessageStatus, receipt: ReceiptStatus): ReceiptStatus[] {
  if (!(status in rank)) return []
  const now = rank[status as keyof typeof rank]
  if (receipt === 'failed') return now < rank.delivered ? ['failed'] : []
  return ladder.filter((step) => rank[step] > now && rank[step] <= rank[receipt])
}
