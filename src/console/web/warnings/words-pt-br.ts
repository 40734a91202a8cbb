// The words of warnings about the safety of an instance in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  caps: {
    hourlyOutboundCap: (n, most) => `${n} mensagens em uma hora; ${most} são seguras para esta instância.`,
    dailyOutboundCap: (n, most) => `${n} mensagens em um dia; ${most} são seguras para esta instância.`,
    hourlyUniqueRecipientsCap: (n, most) => `${n} pessoas em uma hora; ${most} são seguras para esta instância.`,
    dailyUniqueRecipientsCap: (n, most) => `${n} pessoas em um dia; ${most} são seguras para esta instância.`,
    maxCampaignRecipients: (n, most) => `${n} destinatários de uma campanha; ${most} são seguros para esta instância.`,
  },
  cold: 'Muitos destinatários desta instância nunca escreveram a você.',
}
