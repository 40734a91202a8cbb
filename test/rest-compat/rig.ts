// Rig of the REST tests: a gateway, two accounts, and the exact records that they expect.
import { expect } from 'vitest'
import { type Account, connectedInstance, createAccount, type TestInstance } from '../kit/accounts.ts'
import { type Answer, type Api, api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'

/** An account with a connected instance that is 30 days old, and a client with its key. */
export interface Tenant {
  account: Account
  api: Api
  instance: TestInstance
}

export interface Rig {
  databaseUrl: string
  gateway: { url: string }
  tenant: Tenant
  /** Another account, for tests of isolation. */
  stranger: Tenant
}

/** {@link Rig} with a gateway that the test may read the log of, and stop. */
export type OwnRig = Rig & { gateway: OpenGateway }

export type ProcessRig = Rig & { gateway: Gateway }

/** Two new accounts on the gateway shared by the whole run. */
export async function openRig(): Promise<Rig> {
  const { url, databaseUrl } = commons()
  return await peopled({ databaseUrl, gateway: { url } })
}

/**
 * Two new accounts on a gateway and database of their own, for tests that would disturb others.
 * The rate limit of a key is too high to matter.
 */
export async function openOwnRig(env: Record<string, string> = {}): Promise<OwnRig> {
  const databaseUrl = await cloneDatabase()
  return await peopled({ databaseUrl, gateway: await openGateway({ databaseUrl, env: { ...unlimited, ...env } }) })
}

/** The same with a child process, for tests that stop, measure or inspect it. */
export async function openProcessRig(env: Record<string, string | undefined> = {}): Promise<ProcessRig> {
  const databaseUrl = await cloneDatabase()
  return await peopled({ databaseUrl, gateway: await startGateway({ databaseUrl, env: { ...unlimited, ...env } }) })
}

const unlimited = { RATE_LIMIT_PER_SECOND: '100000' }

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

/** The number of rows of the table that belong to the two accounts. */
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

/** Expects the answer to be exactly this refusal. */
export function expectRefusal(answer: Answer, status: number, code: string, message?: string | RegExp): void {
  const outcome =
    message === undefined ? expect.any(String) : message instanceof RegExp ? expect.stringMatching(message) : message
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body: { error: { code, message: outcome } } })
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w.-]{1,128}$/)
}

export const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
export const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
export const phone = expect.stringMatching(/^\+\d{8,15}$/)
/** A valid UUID that no object has. */
export const nobody = '01900000-0000-7000-8000-000000000000'

/** The record of an outbound message that was just accepted, with `fields` changed. Compare with `toStrictEqual`. */
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
/** A number not used before; the sandbox treats it as an ordinary one. */
export function newNumber(): string {
  return `+49151${100_000 + ++last}55`
}

/** A campaign scheduled one day ahead to one new number, with `fields` changed. */
export function campaign(tenant: Tenant, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const { to, ...message } = text(tenant)
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  return { ...message, name: 'News', recipients: [{ to }], scheduledAt, ...fields }
}

/** A text message to send, with `fields` changed. */
export function text(tenant: Tenant, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { instanceId: tenant.instance.id, to: newNumber(), type: 'text', text: 'Hello', ...fields }
}

let lastTemplate = 0
/** A template with a unique name, with `fields` changed. */
export function template(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: `Template ${++lastTemplate}`, type: 'text', body: 'Hi {{contact.name}}', ...fields }
}

/** Creates a {@link template} and returns its id. */
export async function createTemplate({ api }: Pick<Tenant, 'api'>, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await api.post('templates', template(fields))
  expect(answer.status).toBe(201)
  return answer.body.data.id
}
