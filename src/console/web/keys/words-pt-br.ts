// The words of the page of API keys in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Chaves de API',
  create: 'Nova chave',
  submit: 'Criar chave',
  done: 'Concluir',
  name: 'Nome',
  nameHint: 'Quem vai usá-la, por exemplo a loja.',
  key: 'Chave',
  access: 'Acesso',
  accesses: { full: 'Tudo', send: 'Enviar mensagens', read: 'Somente leitura' },
  created: 'Criada',
  by: 'Criada por',
  nobody: 'Alguém que saiu',
  used: 'Último uso',
  never: 'Nunca',
  actions: 'Ações',
  yours: 'Sua nova chave',
  once: 'Ela só é mostrada agora. Guarde-a como uma senha.',
  tryIt: 'Experimente',
  revoke: 'Revogar',
  revokeOf: (name: string) => `Revogar ${name}`,
  revokeNote: 'Os programas que usam esta chave são recusados na hora, e seus fluxos terminam. Isso não pode ser desfeito.',
  emptyTitle: 'Ainda não há chaves de API',
  empty: 'Um programa precisa de uma chave para enviar mensagens por este espaço de trabalho.',
}
