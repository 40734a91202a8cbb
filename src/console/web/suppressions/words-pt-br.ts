// The words of the do-not-contact page in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Não contatar',
  what: 'Estes números não recebem mensagens deste espaço de trabalho. O que espera por eles não é enviado.',
  numbers: 'Números',
  number: 'Número',
  numberHint: 'Com o código do país.',
  reason: 'Motivo',
  reasons: { keyword: 'O destinatário pediu', manual: 'Adicionado à mão', network: 'Informado pela rede' },
  since: 'Desde',
  actions: 'Ações',
  add: 'Adicionar número',
  remove: 'Remover',
  removeOf: (phone: string) => `Remover ${phone}`,
  removeNote: 'O número poderá receber mensagens de novo. Remova-o só se o dono quiser.',
  empty: 'Ninguém pediu para não ser contatado ainda.',
  keywords: 'Palavras-chave',
  keywordsEach: 'Palavras-chave, uma por linha',
  keywordsHint: 'Quem responde com uma delas não recebe mais mensagens.',
  reply: 'Resposta',
  replyHint: 'Enviada uma vez a quem usou uma palavra-chave. Vazio: sem resposta.',
}
