// The words of the pages of templates in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Modelos',
  template: 'Modelo',
  create: 'Novo modelo',
  submit: 'Criar modelo',
  nameHint: 'Único no espaço de trabalho.',
  type: 'Tipo',
  text: 'Texto',
  textHint: 'Marcadores: {{contact.firstName}}, ou {{custom.order}} para um valor seu.',
  file: 'Endereço do arquivo',
  campaigns: 'Campanhas',
  changed: 'Alterado',
  emptyTitle: 'Ainda não há modelos',
  empty: 'Um modelo é um texto com marcadores, que cada mensagem preenche com seus próprios valores.',
  preview: 'Prévia',
  fromContact: (names: string) => `O contato de cada destinatário fornece: ${names}.`,
  deleteTitle: 'Excluir modelo',
  deleteNote: 'As mensagens e campanhas feitas com ele ficam como estão.',
}
