// The words of the usage page in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Uso',
  period: 'Este período',
  messages: 'Mensagens',
  requests: 'Requisições de API',
  media: 'Mídia',
  resets: (at: string) => `Recomeça em ${at}.`,
  projected: (whole: string) => `Neste ritmo, ${whole} até o fim.`,
  tooMuch: (whole: string, max: string) => `Neste ritmo, ${whole} até o fim, de ${max}: não será suficiente.`,
  days: 'Mensagens por dia',
  day: 'Dia',
  daysNote: 'Os dias são os de UTC. Uma mensagem conta em cada dia em que chegou a um status.',
  empty: 'Nada foi enviado ou recebido nos últimos 30 dias.',
}
