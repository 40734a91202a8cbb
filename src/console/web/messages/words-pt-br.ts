// The words of one message and of the further filters in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  waitsFor: {
    schedule: 'Sua hora ainda não chegou.',
    instance: 'Sua instância não está conectada.',
    recipient_hold: 'A rede pediu para esperar com este destinatário.',
    instance_hold: 'A rede pediu para esperar com esta instância.',
    account_hold: 'A rede pediu para esperar com a conta desta instância.',
    turn: 'Uma mensagem anterior para o mesmo número vai primeiro.',
    retry: 'A rede não pôde recebê-la; será tentada de novo.',
    capacity: 'Outras mensagens da instância estão sendo enviadas; ela sai quando uma delas terminar.',
    dispatch: 'Está prestes a ser enviada.',
    answer: 'Foi entregue à rede, que ainda não respondeu.',
    report: 'A rede a recebeu e ainda não informou nada sobre ela.',
  },
  until: (at: string) => `Até ${at}.`,
  expires: (at: string) => `Falha se não tiver saído em ${at}.`,
  stalled: 'Deveria ter saído há um minuto ou mais.',
  sent: 'Está com a rede. O telefone do destinatário ainda não confirmou.',
  delivered: 'Está no telefone. Ainda não foi aberta, ou o destinatário oculta isso.',
  from: (zone: string) => `De (${zone})`,
  to: (zone: string) => `Antes de (${zone})`,
  campaign: 'Campanha',
  contact: 'Contato',
  code: 'Motivo da falha',
  text: 'Texto',
  textHint: 'Dos últimos 31 dias, ou de todos com um número, contato ou campanha.',
  apply: 'Mostrar mensagens',
  remove: (filter: string) => `Remover filtro ${filter}`,
  chosen: 'Filtros escolhidos',
}
