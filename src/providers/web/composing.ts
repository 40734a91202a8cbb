// A message that is about to be composed: for which instance, over which connection, and under which id.
import type { App } from '../../core/app.ts'
import type { ProviderInstance } from '../provider.ts'
import type { Host } from './host.ts'
import type { Live } from './live.ts'
import type { WebSettings } from './settings.ts'

export interface ComposeOptions {
  app: App
  host: Host
  live: Live
  instance: ProviderInstance<Pick<Partial<WebSettings>, 'buttons'>>
  jid: string
  stanzaId: string
}
