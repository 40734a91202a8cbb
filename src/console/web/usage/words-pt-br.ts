// The words of the usage page in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Uso',
  closed: 'O dono e os administradores de uma equipe veem o uso dela.',
  period: 'Este período',
  messages: 'Mensagens',
  requests: 'Requisições de API',
  media: 'Mídia',
  resets: (at: string) => `Recomeça em ${at}.`,
  projected: (whole: string) => `Neste ritmo, ${whole} até o fim.`,
  tooMuch: (whole: string, max: string) => `Neste ritmo, ${whole} até o fim, de ${max}: não será suficiente.`,
  sentByDay: 'Mensagens enviadas por dia',
  requestsByDay: 'Requisições de API por dia',
  days: 'Mensagens por dia',
  day: 'Dia',
  daysNote:
    'Os dias são os de UTC. Uma mensagem conta em cada dia em que chegou a um status. As requisições são as feitas com uma chave.',
  empty: 'Nada foi enviado ou recebido nos últimos 30 dias.',
}
