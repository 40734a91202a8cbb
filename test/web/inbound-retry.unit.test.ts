// An inbound message of WhatsApp Web while the database does not answer.
import { expect, it } from 'vitest'
import { type ReceiveOptions, receiveFrom } from '../../src/providers/web/inbound.ts'

it.each(['the options of its sender', 'the other numbers of its sender', 'the message'])(
  'is stored once %s can be read or written',
  async (what) => {
    const failing = new Set([what])
    const failOnce = (asked: string) => {
      if (failing.delete(asked)) throw new Error('Connection terminated')
    }
    const stored: unknown[] = []
    const warnings: string[] = []
    const query = async ({ text }: { text: string }) => {
      failOnce(text.includes('web_options') ? 'the options of its sender' : 'the other numbers of its sender')
      return { rows: [] }
    }
    const options = {
      app: { pool: { query }, log: { warn: (_: object, text: string) => warnings.push(text) } },
      host: {
        inbound: async (messages: unknown[]) => {
          failOnce('the message')
          stored.push(...messages)
        },
        instance: async () => undefined,
      },
      lease: { instanceId: 'instance', isHeld: () => true },
      signal: new AbortController().signal,
      isOwn: () => false,
      markRead: async () => {},
    } as unknown as ReceiveOptions
    const attrs = { id: 'A1', from: '393331234567@s.whatsapp.net' }
    await receiveFrom(options).add({ attrs, message: { conversation: '1' }, phoneOf: async () => null })
    expect(stored).toMatchObject([{ providerMessageId: 'A1', from: '+393331234567', body: '1' }])
    expect(warnings).toEqual(['an inbound message is stored later'])
  },
)
