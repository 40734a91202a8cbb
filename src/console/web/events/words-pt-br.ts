// The words of the page of events in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Eventos',
  time: 'Hora',
  type: 'Tipo',
  all: 'Todos',
  about: 'Sobre',
  content: 'Conteúdo',
  show: 'Mostrar',
  showNew: (n: string) => `Mostrar ${n} novos`,
  newest: 'Mostrar os mais recentes',
  older: 'Mostrar mais antigos',
  empty: 'Nada aconteceu ainda. Os eventos ficam guardados por 30 dias.',
  emptyFiltered: 'Não há evento deste tipo nos últimos 30 dias.',
}
