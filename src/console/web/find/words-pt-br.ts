// The words of Find in Brazilian Portuguese.
import type { words as en } from './words-en.ts'

export const words: typeof en = {
  placeholder: 'Páginas, nomes, números e ids',
  looking: 'Procurando …',
  nothing: 'Nada tem esse nome.',
  kinds: {
    Message: 'Mensagem',
    Contact: 'Contato',
    ContactGroup: 'Grupo',
    Campaign: 'Campanha',
    Instance: 'Instância',
    Template: 'Modelo',
    WebhookEndpoint: 'Endpoint',
    WebhookDelivery: 'Entrega',
  },
}
