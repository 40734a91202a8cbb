// The words of the warnings of the shell in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  name: 'Avisos',
  hide: 'Ocultar os avisos',
  more: (n) => `Mais ${n}`,
  fewer: 'Mostrar um',
  past_due: 'O último pagamento falhou. Tudo funciona até a assinatura ser cancelada.',
  inactive: 'A assinatura está inativa: nada é criado nem enviado.',
  suspended: 'A conta deste espaço de trabalho está suspensa: nada é criado nem enviado. Fale com o operador deste gateway.',
  stopped: (owner) => `A assinatura desta equipe não está ativa: nada é criado nem enviado. Fale com o dono dela, ${owner}.`,
  messages: {
    nearly: (share, most) => `${share} das ${most} mensagens deste mês já foram usadas.`,
    usedUp: 'As mensagens deste mês acabaram: nenhuma outra é aceita.',
  },
  requests: {
    nearly: (share, most) => `${share} das ${most} requisições de API deste mês já foram usadas.`,
    usedUp: 'As requisições de API deste mês acabaram: as chaves são recusadas.',
  },
  newVersion: 'Há uma nova versão deste console. Carregar.',
  disconnected: (name) => `${name} está desconectada: as mensagens dela esperam.`,
  loggedOut: (name) => `${name} saiu da conta: as mensagens dela esperam até ser pareada de novo.`,
  instancesDown: (n) => `${n} instâncias não estão conectadas: as mensagens delas esperam.`,
  endpointDisabled: (host) => `O endpoint de webhook em ${host} está desativado: não recebe eventos.`,
  endpointsDisabled: (n) => `${n} endpoints de webhook estão desativados: não recebem eventos.`,
}
