// A network that floods the endpoints that hash passwords is refused, and other callers do not wait for it.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { measuredAgain } from '../kit/measured.ts'
import { hashAtRealCost, newAccount, newPerson, password } from './person.ts'

let databaseUrl: string
let gateway: Gateway
const flooding = '198.51.100.7'

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await startGateway({ databaseUrl, env: { ...hashAtRealCost(), TRUST_PROXY: '1' } })
})

const post = (path: string, body: object, ip: string, headers: Record<string, string> = {}): Promise<Answer> =>
  api(gateway).post(`/api/auth/${path}`, body, { 'x-forwarded-for': ip, ...headers })

/** Sends 120 requests a second from one network until `work`, which starts after the first refusal, is done; returns statuses. */
async function whileFlooded(flood: () => Promise<Answer>, work: () => Promise<void>): Promise<number[]> {
  const statuses: number[] = []
  const sent: Promise<unknown>[] = []
  const refused = Promise.withResolvers<void>()
  let over = false
  const sending = (async () => {
    // Bounded to 6,000 requests in any case.
    for (let i = 0; i < 6_000 && !over; i++) {
      const one = flood().then(({ status }) => {
        statuses.push(status)
        if (status === 429) refused.resolve()
      })
      sent.push(one)
      await pause(1_000 / 120)
    }
    if (!over) refused.reject(new Error('nothing was refused'))
  })()
  try {
    await refused.promise
    await work()
  } finally {
    over = true
    await sending
    await Promise.allSettled(sent)
  }
  return statuses
}

/** The median duration in milliseconds of this many sequential runs. */
async function medianMs(times: number, work: () => Promise<void>): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) {
    const begun = performance.now()
    await work()
    all.push(performance.now() - begun)
  }
  return all.sort((a, b) => a - b)[Math.floor(times / 2)] as number
}

const anonymous = () => post('login', { email: `${randomUUID()}@example.com`, password }, flooding)

const floods: Record<string, () => Promise<Answer>> = {
  logins: anonymous,
  'sign-ups': () => post('signup', { email: `${randomUUID()}@example.com`, password, name: 'Ada' }, flooding),
}

describe.each(Object.keys(floods))('a flood of %s from one network', (name) => {
  it('is refused in part, and logins from other networks stay fast', { ...measuredAgain, timeout: 180_000 }, async () => {
    const { email } = await newAccount(databaseUrl)
    const logIn = async () => {
      expect((await post('login', { email, password }, '203.0.113.9')).status).toBe(200)
    }
    const quietMs = await medianMs(9, logIn)
    let floodedMs = 0
    let healthMs = 0
    const statuses = await whileFlooded(floods[name] as () => Promise<Answer>, async () => {
      floodedMs = await medianMs(9, logIn)
      healthMs = await medianMs(9, async () => {
        expect((await fetch(`${gateway.url}/livez`)).status).toBe(200)
      })
    })
    expect(statuses.filter((status) => ![201, 401, 429].includes(status))).toEqual([])
    expect(statuses).toContain(429)
    // The flood uses the other processor, and its requests still have to be parsed.
    expect(floodedMs).toBeLessThan(4 * quietMs + 100)
    expect(healthMs).toBeLessThan(250)
  })
})

describe('a flood of strangers from the same network', () => {
  it('never blocks logins of a known device or password changes of a session', { timeout: 180_000 }, async () => {
    const person = await newPerson(gateway, databaseUrl)
    const first = await post('login', { email: person.email, password }, flooding)
    const cookie = first.headers
      .getSetCookie()
      .find((line) => line.startsWith('gateway.device='))
      ?.split(';', 1)[0] as string
    const authorization = `Bearer ${first.body.data.accessToken}`
    const statuses = await whileFlooded(anonymous, async () => {
      for (let i = 0; i < 5; i++) {
        expect((await post('login', { email: person.email, password }, flooding, { cookie })).status).toBe(200)
        const change = { currentPassword: password, newPassword: password }
        expect((await post('password/change', change, flooding, { authorization })).status).toBe(200)
      }
    })
    expect(statuses).toContain(429)
  })
})

describe('an invalid mail token', () => {
  it('is refused without hashing, so such requests are answered although the network’s hashing capacity is used up', {
    timeout: 180_000,
  }, async () => {
    await whileFlooded(anonymous, async () => {
      for (const [path, body] of [
        ['password/reset', { token: 'none', password }],
        ['verify-email', { token: 'none', password }],
      ] as const)
        expect((await post(path, body, flooding)).body.error.code).toBe('INVALID_TOKEN')
    })
  })
})
