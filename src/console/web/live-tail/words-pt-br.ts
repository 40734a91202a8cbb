// The words of the page Live in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Ao vivo',
  log: 'Eventos',
  pause: 'Pausar',
  resume: 'Continuar',
  waiting: (n) => `${n} esperam`,
  rate: (n) => `${n} por segundo`,
  quiet: 'Nada aconteceu desde que você abriu esta página. Envie uma mensagem e veja aqui.',
  noneOfType: 'Nenhum evento deste tipo chegou.',
  type: 'Tipo de evento',
  busy: 'Eventos demais para mostrar cada um: só contagens.',
  all: 'Todos',
}
