// Setup for tests of the Cloud API: a gateway in this process, a stand-in of the Graph API, and instances that are connected to it.
import { expect } from 'vitest'
import { type Account, createAccount } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { type MetaNumber, openStandIn, type StandIn } from './stand-in.ts'

export interface Phone {
  id: string
  number: MetaNumber
}

export interface Rig {
  databaseUrl: string
  standIn: StandIn
  gateway: Pick<OpenGateway, 'url' | 'logs'>
  account: Account
  api: Api
  /** Creates an instance for a number of Meta. */
  create: (number: MetaNumber, more?: Record<string, unknown>) => Promise<string>
  /** Connects an instance, and waits until it has left `connecting`. */
  connect: (id: string) => Promise<State>
  /** A connected instance with a number of its own. */
  phone: (given?: Partial<MetaNumber>) => Promise<Phone>
  state: (id: string) => Promise<State>
  /** Sends or schedules a message, by default a text; returns its id. */
  send: (instanceId: string, message: Record<string, unknown>) => Promise<string>
  /** Waits until the message is no longer queued, or has one of these statuses. */
  settled: (id: string, ...statuses: string[]) => Promise<Row>
  row: (id: string) => Promise<Row>
}

export interface State {
  status: string
  lastError: string | null
}

export interface Row {
  id: string
  status: string
  error: string | null
  errorDetail: string | null
  attempts: number
  providerMessageId: string | null
  acceptedAt: Date | null
  nextAttemptAt: Date | null
}

let numbers = 0

/** A number that no other test writes to. */
export function fresh(): string {
  return `+3933370${String(10_000 + ++numbers)}`
}

/** One for each file, as the stand-in is. */
export async function openRig(env: Record<string, string> = {}): Promise<Rig> {
  const databaseUrl = await cloneDatabase()
  const standIn = await openStandIn()
  const account = await createAccount(databaseUrl)
  const gateway = await openGateway({ databaseUrl, env: { CLOUD_API_URL: standIn.url, RATE_LIMIT_PER_SECOND: '100000', ...env } })
  return rigOf(databaseUrl, standIn, gateway, account)
}

export function rigOf(databaseUrl: string, standIn: StandIn, gateway: Pick<OpenGateway, 'url' | 'logs'>, account: Account): Rig {
  const own = api(gateway, account.apiKey)
  const pool = sql(databaseUrl)

  async function create(number: MetaNumber, more: Record<string, unknown> = {}): Promise<string> {
    const settings = { ...standIn.settingsOf(number), ...more }
    const { status, body } = await own.post('instances', { name: 'Shop', provider: 'cloud', settings })
    expect({ status, body }).toMatchObject({ status: 201 })
    return body.data.id
  }

  async function state(id: string): Promise<State> {
    const { rows } = await pool.query<State>('select status, "lastError" from instances where id = $1', [id])
    return rows[0] as State
  }

  async function connect(id: string): Promise<State> {
    const { status, body } = await own.post(`instances/${id}/connect`)
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { status: 'connecting' } } })
    return await until(async () => {
      const now = await state(id)
      return now.status !== 'connecting' && now
    })
  }

  async function row(id: string): Promise<Row> {
    const { rows } = await pool.query<Row>('select * from messages where id = $1', [id])
    return rows[0] as Row
  }

  return {
    databaseUrl,
    standIn,
    gateway,
    account,
    api: own,
    create,
    connect,
    state,
    row,
    async phone(given) {
      const number = standIn.addNumber(given)
      const id = await create(number)
      expect(await connect(id)).toMatchObject({ status: 'connected' })
      return { id, number }
    },
    async send(instanceId, message) {
      const content = message.type === undefined && message.templateId === undefined ? { type: 'text', text: 'hello' } : {}
      const path = message.scheduledAt === undefined ? 'messages/send' : 'messages/schedule'
      const { status, body } = await own.post(path, { instanceId, to: fresh(), ...content, ...message })
      expect({ status, body }).toMatchObject({ status: 201 })
      return body.data.id
    },
    settled: (id, ...statuses) =>
      until(async () => {
        const now = await row(id)
        return (statuses.length > 0 ? statuses.includes(now.status) : now.acceptedAt || now.status === 'failed') && now
      }),
  }
}
