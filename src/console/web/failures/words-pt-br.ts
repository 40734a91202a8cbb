// The reasons for which messages fail, in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  byCode: {
    RECIPIENT_NOT_FOUND: ['O número não está na rede.', 'Confira o número com o código do país.'],
    UNDELIVERABLE: ['A rede desistiu.', 'Envie de novo mais tarde.'],
    EXPIRED: ['Esperou mais do que podia.', 'Veja por que a instância não estava conectada e envie de novo.'],
    INSTANCE_DELETED: ['A instância foi excluída.', 'Envie de novo por outra instância.'],
    ACCOUNT_RESTRICTED: ['A rede restringe a conta da instância.', 'Pare de enviar e leia a segurança da instância.'],
    OPTED_OUT: ['O destinatário não quer mensagens.', 'Não envie mais para este número.'],
    RECIPIENT_SUPPRESSED: ['O número está na lista de não contatar.', 'Não envie mais para este número.'],
    MONTHLY_OUTBOUND_QUOTA_EXCEEDED: ['A cota do mês acabou.', 'Escolha um plano maior ou espere o próximo mês.'],
    UNKNOWN_OUTCOME: ['A rede não disse se foi enviada.', 'Pergunte ao destinatário antes de enviar de novo.'],
    MEDIA_REJECTED: ['A rede recusou o arquivo.', 'Confira o tipo e o tamanho do arquivo.'],
    CONNECTION_LOST: ['A conexão com a rede caiu.', 'Envie de novo.'],
    OUTSIDE_WINDOW: ['O destinatário não escreveu nas últimas 24 horas.', 'Use um modelo aprovado.'],
    NOT_DELIVERED_BY_POLICY: ['A rede a reteve.', 'Espere um dia antes de escrever de novo para este número.'],
    TEMPLATE_INVALID: ['Falta um valor do modelo, ou o texto é longo demais.', 'Envie com o valor.'],
    TEMPLATE_REJECTED: ['A rede não aceita o modelo.', 'Corrija o modelo e obtenha a aprovação.'],
    UNSUPPORTED_TYPE: ['A rede não aceita mensagens deste tipo.', 'Envie outro tipo.'],
    AUTH_INVALID: ['A rede recusou o acesso da instância.', 'Conecte a instância de novo e envie outra vez.'],
    TEMPORARILY_UNAVAILABLE: ['A rede não estava disponível.', 'Envie de novo mais tarde.'],
    PROVIDER_ERROR: ['A rede a recusou.', 'Veja os detalhes antes de enviar de novo.'],
    LEASE_LOST: ['O processo que a enviaria parou.', 'Envie de novo.'],
    CONTACT_DELETED: ['O contato foi excluído.', 'Crie o contato de novo antes de enviar para este número.'],
    SUBSCRIPTION_INACTIVE: ['A assinatura não estava ativa.', 'Renove a assinatura e envie de novo.'],
  },
  other: ['A mensagem não pôde ser enviada.', 'Veja os detalhes antes de enviar de novo.'],
}
