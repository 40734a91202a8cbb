// Settings of an instance of `web`.
import { z } from 'zod'

const delayMs = z.int().min(0).max(60_000)

export const settings = z.strictObject({
  /** Time between two messages of the instance, chosen at random between the bounds. */
  pace: z
    .strictObject({ minMs: delayMs, maxMs: delayMs })
    .refine(({ minMs, maxMs }) => minMs <= maxMs, 'minMs must not be greater than maxMs')
    .default({ minMs: 1_000, maxMs: 3_000 }),
  /** `text`: buttons are numbered options. `native`: buttons of the network, which not every app shows. */
  buttons: z.enum(['text', 'native']).default('text'),
  /** Shows that somebody is typing before each message. */
  typing: z.boolean().default(false),
  /** Tells the network that inbound messages were read, as soon as they are stored. */
  markRead: z.boolean().default(false),
})

export type WebSettings = z.output<typeof settings>
