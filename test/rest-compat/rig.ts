// What the tests of the REST rows begin with: a gateway, two accounts, and the exact records that they expect.
import { expect } from 'vitest'
import {
  type Account,
  type Answer,
  type Api,
  api,
  cloneDatabase,
  commons,
  connectedInstance,
  createAccount,
  type Gateway,
  sql,
  startGateway,
  type TestInstance,
} from '../kit/kit.ts'

/** An account with a connected instance of 30 days, and a client with its key. */
export interface Tenant {
  account: Account
  api: Api
  instance: TestInstance
}

export interface Rig {
  databaseUrl: string
  gateway: { url: string }
  tenant: Tenant
  /** Somebody else. */
  stranger: Tenant
}

/** {@link Rig} with a gateway that may be looked into and stopped. */
export type OwnRig = Rig & { gateway: Gateway }

/** Two new accounts at the gateway of the run. */
export async function openRig(): Promise<Rig> {
  const { url, databaseUrl } = commons()
  return await peopled({ databaseUrl, gateway: { url } })
}

/** The same at a gateway and on a database of its own, for what others would notice. The rate of a key is no matter. */
export async function openOwnRig(env: Record<string, string> = {}): Promise<OwnRig> {
  const databaseUrl = await cloneDatabase()
  const gateway = await startGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', ...env } })
  return await peopled({ databaseUrl, gateway })
}

async function peopled<Site extends Pick<Rig, 'databaseUrl' | 'gateway'>>(site: Site): Promise<Site & Rig> {
  const { gateway, databaseUrl } = site
  const [tenant, stranger] = await Promise.all([newTenant(gateway, databaseUrl), newTenant(gateway, databaseUrl)])
  return { ...site, tenant, stranger }
}

export async function newTenant(
  gateway: { url: string },
  databaseUrl: string,
  plan: 'free' | 'pro' | 'max' = 'max',
): Promise<Tenant> {
  const account = await createAccount(databaseUrl, { plan })
  const instance = await connectedInstance(databaseUrl, account)
  return { account, api: api(gateway, account.apiKey), instance }
}

/** How many rows of the table are theirs. */
export async function countOf(
  { databaseUrl, tenant, stranger }: Rig,
  table: 'messages' | 'media' | 'instances',
  where = 'true',
): Promise<number> {
  const { rows } = await sql(databaseUrl).query(
    `select count(*)::int as n from ${table} where "workspaceId" = any($1) and ${where}`,
    [[tenant, stranger].map(({ account }) => account.workspaceId)],
  )
  return rows[0]?.n as number
}

/** The answer is this refusal and nothing else. */
export function expectRefusal(answer: Answer, status: number, code: string, message?: string | RegExp): void {
  const told = message === undefined ? expect.any(String) : message instanceof RegExp ? expect.stringMatching(message) : message
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body: { error: { code, message: told } } })
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w.-]{1,128}$/)
}

export const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
export const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
export const phone = expect.stringMatching(/^\+\d{8,15}$/)
/** Of the right form, and nobody's. */
export const nobody = '01900000-0000-7000-8000-000000000000'

/** The message record of an outbound message that was just accepted, with what differs. Compared with `toStrictEqual`. */
export function messageRecord(tenant: Tenant, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: uuid,
    userId: tenant.account.userId,
    instanceId: tenant.instance.id,
    contactId: null,
    campaignId: null,
    direction: 'outbound',
    type: 'text',
    from: tenant.instance.waNumber,
    to: phone,
    body: expect.any(String),
    mediaUrl: null,
    status: 'queued',
    error: null,
    providerMessageId: null,
    warnings: expect.any(Array),
    safety: {
      decision: expect.stringMatching(/^(allow|warn)$/),
      riskLevel: expect.stringMatching(/^(low|medium|high)$/),
      state: expect.stringMatching(/^(new|warming|stable|at_risk|restricted)$/),
      score: expect.any(Number),
    },
    createdAt: moment,
    updatedAt: moment,
    ...fields,
  }
}

let last = 0
/** A number that nobody was written to yet; the sandbox treats it as an ordinary one. */
export function newNumber(): string {
  return `+49151${100_000 + ++last}55`
}

/** A campaign in the far future to one number of its own, with what differs. */
export function campaign(tenant: Tenant, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const { to, ...message } = text(tenant)
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  return { ...message, name: 'News', recipients: [{ to }], scheduledAt, ...fields }
}

/** A text to send, with what differs. */
export function text(tenant: Tenant, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { instanceId: tenant.instance.id, to: newNumber(), type: 'text', text: 'Hello', ...fields }
}

let lastTemplate = 0
/** A template of its own name, with what differs. */
export function template(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: `Template ${++lastTemplate}`, type: 'text', body: 'Hi {{contact.name}}', ...fields }
}

/** The id of {@link template}, made. */
export async function createTemplate({ api }: Pick<Tenant, 'api'>, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await api.post('templates', template(fields))
  expect(answer.status).toBe(201)
  return answer.body.data.id
}
