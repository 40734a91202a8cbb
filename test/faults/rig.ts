// Setup for tests of faults: an account with two kinds of phones, clients that retry, and steady load.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Account, connectedInstance, createAccount, type TestInstance } from '../kit/accounts.ts'
import { type Answer, api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../kit/gateway.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'

export interface Stage {
  databaseUrl: string
  account: Account
  /** On a network that deduplicates by our id, so that a message that is offered twice is sent once. */
  sure: TestInstance
  /** On a network that does not: a message that was offered and not answered must not be offered again. */
  blind: TestInstance
  start: (env?: GatewayOptions['env']) => Promise<Gateway>
  /** The same inside this process, for a gateway that the test neither kills nor freezes. */
  open: (env?: GatewayOptions['env']) => Promise<OpenGateway>
}

/** Opens a clone of the template, or the database given, with an account and both kinds of phones. */
export async function openStage(databaseUrl?: string): Promise<Stage> {
  const url = databaseUrl ?? (await cloneDatabase())
  const account = await createAccount(url)
  const options = (env: GatewayOptions['env']) => ({
    databaseUrl: url,
    env: { RATE_LIMIT_PER_SECOND: '100000', LOG_LEVEL: 'info', ...env },
  })
  return {
    databaseUrl: url,
    account,
    sure: await connectedInstance(url, account, { name: 'Sure' }),
    blind: await connectedInstance(url, account, { name: 'Blind', settings: { clientReferences: false } }),
    start: (env) => startGateway(options(env)),
    open: (env) => openGateway(options(env)),
  }
}

let numbers = 0

/** A body of `messages/send`, to the number given or to a new number without special behaviour. */
export function text(instance: TestInstance, to = plainNumber()): Record<string, unknown> {
  return { instanceId: instance.id, to, type: 'text', text: 'hello' }
}

export function plainNumber(): string {
  return `+3933${String(++numbers).padStart(4, '0')}5555`
}

/**
 * Posts as a careful client does: again under the same Idempotency-Key, to the gateway that `pick` names next, until the answer
 * is neither 5xx nor `IDEMPOTENCY_IN_PROGRESS`.
 */
export async function persist(
  account: Account,
  pick: () => { url: string },
  path: string,
  body: unknown,
  options: PersistOptions = {},
): Promise<Answer> {
  const { key = randomUUID(), timeoutMs = 40_000, onAnswer = () => {} } = options
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const answer = await api(pick(), account.apiKey)
      .post(path, body, { 'idempotency-key': key })
      .catch(() => null)
    if (answer) onAnswer(answer)
    if (answer && answer.status < 500 && answer.status !== 409) return answer
    if (Date.now() > deadline) throw new Error(`${path} was not answered: ${JSON.stringify(answer)}`)
    await pause(50)
  }
}

export interface PersistOptions {
  key?: string
  timeoutMs?: number
  /** Called with every answer, not only with the last one. */
  onAnswer?: (answer: Answer) => void
}

/** Sends all messages in one bulk; returns their ids in order. */
export async function sendAll(account: Account, pick: () => { url: string }, bodies: readonly unknown[]): Promise<string[]> {
  const { status, body } = await persist(account, pick, 'messages/bulk', { messages: bodies })
  if (status !== 202 || body.data.accepted.length !== bodies.length) throw new Error(JSON.stringify(body))
  return body.data.accepted.map((item: { id: string }) => item.id)
}

export interface Load {
  /** Ids of the messages that were answered with a 201. */
  acknowledged: string[]
  /** The status of every answer, and when it came (ms since 1970). */
  answers: { status: number; at: number; retryAfter: string | null }[]
  /** Ends the load; every request that began is repeated until it is answered. */
  stop: () => Promise<void>
}

/** Starts `clients` careful clients that send one message after the other, each to the gateway that `pick` names. */
export function startLoad(account: Account, pick: () => { url: string }, next: () => unknown, clients: number, restMs = 0): Load {
  let stopping = false
  const load: Load = {
    acknowledged: [],
    answers: [],
    async stop() {
      stopping = true
      await running
    },
  }
  const running = Promise.all(Array.from({ length: clients }, client))
  running.catch(() => {})
  async function client(): Promise<void> {
    while (!stopping) {
      const onAnswer = ({ status, headers }: Answer) => {
        load.answers.push({ status, at: Date.now(), retryAfter: headers.get('retry-after') })
      }
      const { status, body } = await persist(account, pick, 'messages/send', next(), { onAnswer })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      load.acknowledged.push(body.data.id)
      if (restMs > 0) await pause(restMs)
    }
  }
  return load
}

export { pickFrom, seeded } from '../kit/random.ts'
