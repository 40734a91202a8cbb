// The words of refusals in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  INVALID_CREDENTIALS: 'E-mail ou senha incorretos.',
  EMAIL_NOT_VERIFIED: 'O e-mail ainda não foi verificado.',
  INVALID_TOKEN: 'Este link já foi usado ou expirou.',
  FORBIDDEN: 'Você não tem permissão para isso.',
  NOT_FOUND: 'Isso não existe mais.',
  TEAM_NOT_FOUND: 'Você não está mais nesta equipe.',
  SUBSCRIPTION_INACTIVE:
    'Sua assinatura não permite isso: está inativa, ou a conta está suspensa. O dono da conta lê em Cobrança o que fazer.',
  MONTHLY_OUTBOUND_QUOTA_EXCEEDED:
    'As mensagens deste mês acabaram. Escolha um plano maior em Cobrança, ou espere o próximo período de cobrança.',
  WEBHOOKS_NOT_AVAILABLE_ON_PLAN: 'Este plano não tem webhooks. Escolha outro em Cobrança.',
  MAX_WEBHOOK_ENDPOINTS_REACHED:
    'O plano não permite mais endpoints de webhook. Exclua um, ou escolha um plano maior em Cobrança.',
  MAX_INSTANCES_REACHED: 'O plano não permite mais instâncias. Exclua uma, ou escolha um plano maior em Cobrança.',
  MAX_API_KEYS_REACHED: 'O plano não permite mais chaves de API. Revogue uma, ou escolha um plano maior em Cobrança.',
  MAX_CONTACT_GROUPS_REACHED: 'O plano não permite mais grupos de contatos. Exclua um, ou escolha um plano maior em Cobrança.',
  MEDIA_STORAGE_EXCEEDED: 'O plano não tem mais espaço para arquivos. Escolha um plano maior em Cobrança.',
  MAX_TEAMS_REACHED: 'O plano não permite mais equipes. Escolha um plano maior em Cobrança.',
  MAX_TEAM_SEATS_REACHED: 'O plano não permite mais lugares nesta equipe. Remova um membro, ou retire um convite.',
  BILLING_TEAM_MUTATION_FORBIDDEN: 'Somente o dono pode mudar a cobrança de uma equipe.',
  BILLING_PAYMENTS_TEAM_OWNER_ONLY: 'Somente o dono pode ver os pagamentos de uma equipe.',
  PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS: 'Suas equipes não cabem neste plano.',
  CONFLICT: 'Isso já existe.',
  INVALID_STATE: 'Isso não é possível no estado atual.',
  RECIPIENT_SUPPRESSED: 'O destinatário está na lista Não contatar. Não envie mais para este número.',
  IDEMPOTENCY_IN_PROGRESS: 'Isso ainda está sendo feito. Tente de novo em instantes.',
  IDEMPOTENCY_KEY_REUSED: 'Isso já foi feito com outros valores. Carregue a página de novo.',
  PAYLOAD_TOO_LARGE: 'Isso é grande demais.',
  PROVIDER_ERROR: 'A rede recusou isso.',
}
