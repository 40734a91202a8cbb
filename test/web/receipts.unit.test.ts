// Receipts of WhatsApp Web that arrive while earlier ones are being stored, as after a time without a connection.
import { expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Host } from '../../src/providers/web/host.ts'
import { createReceipts } from '../../src/providers/web/receipts.ts'

it('are stored in their order, at most 500 in a transaction', async () => {
  const first = Promise.withResolvers<void>()
  const calls: string[][] = []
  const host = {
    async receipts(receipts: readonly { providerMessageId: string }[]) {
      calls.push(receipts.map(({ providerMessageId }) => providerMessageId))
      await first.promise
    },
  } as unknown as Host
  const { received } = createReceipts({ app: {} as App, host, instanceId: 'instance' })
  const items = (n: number) => Array.from({ length: 3 }, (_, i) => ({ tag: 'item', attrs: { id: `${n}-${i}` } }))
  const stanzas = Array.from({ length: 1_000 }, (_, n) => ({
    tag: 'receipt',
    attrs: { id: String(n), type: 'read', t: '1' },
    content: [{ tag: 'list', attrs: {}, content: items(n) }],
  }))
  const stored = stanzas.map(received)
  first.resolve()
  expect(await Promise.all(stored)).toEqual(Array(1_000).fill(true))
  expect(calls.flat()).toEqual(stanzas.flatMap(({ attrs: { id } }) => [id, `${id}-0`, `${id}-1`, `${id}-2`]))
  expect(Math.max(...calls.map(({ length }) => length))).toBe(500)
})
