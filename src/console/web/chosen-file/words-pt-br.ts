// The words about a file that the reader chose in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  notUtf8: 'Este arquivo não é um texto em UTF-8. Salve-o como CSV UTF-8.',
  unreadable: 'Este arquivo não pode ser lido ou mudou depois de escolhido. Escolha-o de novo.',
}
