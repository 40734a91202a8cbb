// Tells Meta that an inbound message was read.
import type { App } from '../../core/app.ts'
import type { MarkedRead } from '../provider.ts'
import { graph } from './graph.ts'
import { faultOf } from './hook-media.ts'
import type { CloudInstance } from './settings.ts'

export async function markRead(
  app: App,
  instance: CloudInstance,
  { providerMessageId }: { providerMessageId: string },
): Promise<MarkedRead> {
  const { accessToken, phoneNumberId } = instance.settings
  const json = { messaging_product: 'whatsapp', status: 'read', message_id: providerMessageId }
  const answer = await graph(app).call({ method: 'POST', path: `${phoneNumberId}/messages`, accessToken, json })
  return answer.is === 'done' ? { outcome: 'done' } : await faultOf(app, instance, answer)
}
