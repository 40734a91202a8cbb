// Status order of outbound messages: receipts move a message forward only, one status after another.
import type { MessageStatus } from '../../generated/prisma/client.ts'
import type { ReceiptStatus } from '../../providers/reports.ts'

const rank = { queued: 0, sending: 1, sent: 2, delivered: 3, read: 4 } as const
const statusOrder = ['sent', 'delivered', 'read'] as const

/**
 * The statuses that a receipt makes a message reach, in order. Late, repeated and impossible receipts reach none. While the outcome of a
 * send is unknown, a receipt settles it, however late. After the message failed with UNKNOWN_OUTCOME no receipt counts: callers have seen a
 * final status, and a final status never changes.
 */
export function reached(status: MessageStatus, receipt: ReceiptStatus): ReceiptStatus[] {
  if (!(status in rank)) return []
  const now = rank[status as keyof typeof rank]
  if (receipt === 'failed') return now < rank.delivered ? ['failed'] : []
  return statusOrder.filter((step) => rank[step] > now && rank[step] <= rank[receipt])
}
