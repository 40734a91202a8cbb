// Look-ups over a connection end with the wait of their caller: the network is not asked for answers that nobody reads.
import { type BinaryNode, USyncQuery, USyncUser } from 'baileys'
import { afterEach, expect, it, vi } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Live } from '../../src/providers/web/live.ts'
import { askNetwork } from '../../src/providers/web/lookup.ts'

const app = { pool: { query: async () => ({ rows: [] }) } } as unknown as App

/** A connection whose network answers a question with these users. */
function liveWith(answer: (query: USyncQuery) => BinaryNode[]): Live {
  const executeUSyncQuery = async (query: USyncQuery) => {
    const list = { tag: 'list', attrs: {}, content: answer(query) }
    return query.parseUSyncQueryResult({
      tag: 'iq',
      attrs: { type: 'result' },
      content: [{ tag: 'usync', attrs: {}, content: [list] }],
    })
  }
  return { socket: { executeUSyncQuery }, whatsApp: { USyncQuery, USyncUser } } as unknown as Live
}

afterEach(() => void vi.useRealTimers())

it('asks for no further batch when the caller has given up, and lets the next look-up begin', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const asked: number[] = []
  const live = liveWith(({ users }) => {
    asked.push(users.length)
    // The network takes longer than any caller waits.
    vi.advanceTimersByTime(8_000)
    return []
  })
  const numbers = Array.from({ length: 45 }, (_, n) => `+3933312345${10 + n}`)
  expect(Object.keys(await askNetwork(app, 'instance', live, numbers))).toEqual(numbers.slice(0, 20))
  await askNetwork(app, 'instance', live, numbers.slice(0, 5))
  expect(asked).toEqual([20, 5])
})

it('leaves open what an answer that names no number of the question may mean', async () => {
  const user = (jid: string): BinaryNode => ({
    tag: 'user',
    attrs: { jid: `${jid}@s.whatsapp.net` },
    content: [{ tag: 'contact', attrs: { type: 'in' } }],
  })
  const live = liveWith(() => [user('393331234510'), user('551187654321')])
  expect(await askNetwork(app, 'instance', live, ['+393331234510', '+5511987654321', '+393331234511'])).toEqual({
    '+393331234510': true,
  })
})
