// The words of the page of a team in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  title: 'Equipe',
  members: 'Membros',
  role: 'Papel',
  roles: { owner: 'Dono', admin: 'Administrador', collaborator: 'Colaborador' },
  rolesNote: 'Administradores gerenciam membros, chaves e webhooks. Colaboradores trabalham com mensagens, contatos e campanhas.',
  seats: (name: string, used: string, all: string) => `${name}: ${used} de ${all} lugares estão ocupados.`,
  joined: 'Entrou',
  actions: 'Ações',
  makeAdmin: 'Tornar administrador',
  makeCollaborator: 'Tornar colaborador',
  of: (action: string, name: string) => `${action}: ${name}`,
  remove: (name: string) => `Remover ${name}`,
  removeNow: 'Remover',
  removeNote: 'A pessoa perde o acesso na hora. Suas chaves de API e endpoints nesta equipe terminam.',
  invite: 'Convidar',
  send: 'Enviar convite',
  invitations: 'Convites',
  noInvitations: 'Nenhum convite está aberto.',
  expires: 'Expira',
  withdraw: 'Retirar',
  rename: 'Renomear equipe',
  leave: 'Sair da equipe',
  leaveNote: 'Suas chaves de API e endpoints nesta equipe terminam.',
  delete: 'Excluir equipe',
  deleteNote:
    'Os membros perdem o acesso, as chaves são revogadas, e as instâncias são desconectadas e excluídas. Isso não pode ser desfeito.',
}
