// Proves that the fields of an inbound message are bounded before they are stored.
import { expect, it } from 'vitest'
import { boundInbound } from '../../src/messages/receipts/inbound-bounds.ts'

const message = (reference: string) => ({
  instanceId: 'instance',
  providerMessageId: 'wamid.1',
  from: '+393331234567',
  type: 'image' as const,
  body: 'Look',
  content: { kind: 'image' as const },
  media: { reference, mimeType: 'image/png', fileName: null },
  at: new Date(),
})

it('a file whose reference is too long is left out, and its message stays', () => {
  const usual = message('x'.repeat(2_000))
  expect(boundInbound(usual)).toEqual(usual)
  expect(boundInbound(message('x'.repeat(10_000)))).toEqual({ ...usual, at: expect.any(Date), media: undefined })
})
