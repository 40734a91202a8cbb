// A message that was refused after its caller had stopped to wait: the next try learns of the refusal, and sends nothing.
import { expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { OutgoingMessage } from '../../src/providers/outgoing.ts'
import type { ProviderInstance } from '../../src/providers/provider.ts'
import type { Host } from '../../src/providers/web/host.ts'
import { createSend } from '../../src/providers/web/send.ts'
import type { Session } from '../../src/providers/web/session.ts'
import type { WebSettings } from '../../src/providers/web/settings.ts'

it('is not sent again', async () => {
  let opened = 0
  const file = async () => {
    opened++
    return null
  }
  const app = { pool: { query: async () => ({ rows: [] }) } } as unknown as App
  const live = { socket: {}, ackOf: () => new Promise(() => {}), forget() {} }
  const session = { live: () => live, pacer: { take: () => 0 } } as unknown as Session
  const send = createSend({ app, host: () => ({ file }) as unknown as Host, session: () => session })
  const instance = { id: 'instance', settings: { typing: false } } as ProviderInstance<WebSettings>
  const message = {
    messageId: 'message',
    to: '+393331234567',
    type: 'image',
    mediaUrl: 'https://a/b',
    body: '',
  } as OutgoingMessage
  const refused = { outcome: 'refused', error: 'MEDIA_REJECTED', detail: 'the file is no longer stored', byGateway: true }
  expect(await send(instance, message)).toEqual(refused)
  expect(await send(instance, message)).toEqual(refused)
  expect(opened).toBe(1)
})
