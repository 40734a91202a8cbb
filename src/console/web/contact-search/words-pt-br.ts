// The words of the fields that find contacts in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  contact: 'Contato',
  hint: 'Uma parte do nome ou do número.',
  found: 'Contatos encontrados',
  foundSome: (n: string) => `Contatos encontrados: ${n}. Escolha um com as setas do teclado.`,
  none: 'Nenhum contato tem este nome ou número.',
  remove: (name: string) => `Remover ${name}`,
  another: 'Outro',
}
