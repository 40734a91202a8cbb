// Turns for costly work are scheduled fairly: a party that floods does not make others wait.
import { setImmediate as settle } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createTurns } from '../../src/accounts/sign-in/turns.ts'

const full = 'API_RATE_LIMIT_EXCEEDED'
const queues = {
  anonymous: { running: 1, waiting: 4, inAll: 6, full },
  known: { running: 1, waiting: 2, inAll: 4, full },
} as const

/** Turns for work that ends on demand; `order` lists the parties in the order in which their work began. */
function open() {
  const turns = createTurns(2, queues)
  const order: string[] = []
  const ends: (() => void)[] = []
  const codes: string[] = []
  const ask = (queue: keyof typeof queues, party: string) =>
    turns
      .take({ queue, party }, () => {
        order.push(party)
        return new Promise<void>((resolve) => ends.push(resolve))
      })
      .catch((error) => void codes.push(`${party}: ${error.extensions.code}`))
  const endOne = async () => {
    await settle()
    ends.shift()?.()
    await settle()
  }
  return { turns, order, codes, ask, endOne }
}

describe('a turn', () => {
  it('is given at once to others while one network floods', async () => {
    const { order, ask } = open()
    for (let i = 0; i < 5; i++) void ask('anonymous', 'flood')
    void ask('anonymous', 'other')
    await settle()
    expect(order).toEqual(['flood', 'other'])
  })

  it('waits for one turn of each other network, regardless of the number of their requests', async () => {
    const { order, ask, endOne } = open()
    for (let i = 0; i < 3; i++) void ask('anonymous', 'a')
    for (let i = 0; i < 2; i++) void ask('anonymous', 'b')
    void ask('anonymous', 'c')
    for (let i = 0; i < 6; i++) await endOne()
    expect(order).toEqual(['a', 'b', 'a', 'b', 'c', 'a'])
  })

  it('alternates between known parties and strangers, regardless of the number of strangers', async () => {
    const { order, ask, endOne } = open()
    for (const network of ['a', 'b', 'c', 'd', 'e', 'f']) void ask('anonymous', network)
    void ask('known', 'ada')
    await endOne()
    expect(order).toEqual(['a', 'b', 'ada'])
  })

  it('is refused at once with a retryable code to a party at its limit of waiting requests', async () => {
    const { turns, codes, ask } = open()
    for (let i = 0; i < 6; i++) void ask('anonymous', 'flood')
    await settle()
    expect(codes).toEqual(['flood: API_RATE_LIMIT_EXCEEDED'])
    expect(() => turns.refuseIfFull({ queue: 'anonymous', party: 'flood' })).toThrow(
      'Too many requests of this kind from this network at the same time; try again shortly',
    )
    expect(() => turns.refuseIfFull({ queue: 'anonymous', party: 'other' })).not.toThrow()
  })

  it('is taken from the longest queue for a newcomer when the total is at its limit', async () => {
    const { order, codes, ask, endOne } = open()
    for (let i = 0; i < 5; i++) void ask('anonymous', 'a')
    for (let i = 0; i < 3; i++) void ask('anonymous', 'b')
    void ask('anonymous', 'newcomer')
    await settle()
    expect(codes).toEqual(['a: SERVICE_UNAVAILABLE'])
    for (let i = 0; i < 8; i++) await endOne()
    expect(order.filter((party) => party === 'newcomer')).toHaveLength(1)
    expect(order.filter((party) => party === 'a')).toHaveLength(4)
  })

  it('is refused to a newcomer when every party waits with only one request', async () => {
    const { codes, ask } = open()
    for (let i = 0; i < 8; i++) void ask('anonymous', `network ${i}`)
    void ask('anonymous', 'newcomer')
    await settle()
    expect(codes).toEqual(['newcomer: SERVICE_UNAVAILABLE'])
  })

  it('passes to the next after work that failed', async () => {
    const turns = createTurns(1, queues)
    const requester = { queue: 'known', party: '' } as const
    const failed = turns.take(requester, () => Promise.reject(new Error('broken')))
    const after = turns.take(requester, async () => 'done')
    await expect(failed).rejects.toThrow('broken')
    expect(await after).toBe('done')
  })
})
