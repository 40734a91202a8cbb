// Fixtures for tests that send templates: an instance whose messages stay queued, templates and contacts.
import { expect } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { createTemplate, newNumber, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'

export interface Sender {
  rig: Rig
  /** A disconnected instance, so its messages stay queued. */
  asleep: Tenant
}

export async function openSender(): Promise<Sender> {
  const rig = await openRig()
  return { rig, asleep: await asleepOf(rig, rig.tenant) }
}

/** The same tenant with an instance that is not connected. */
export async function asleepOf({ databaseUrl }: Rig, { account, api }: Tenant): Promise<Tenant> {
  return { account, api, instance: await connectedInstance(databaseUrl, account, { status: 'disconnected' }) }
}

/** Creates a template with this body; returns its id. */
export function template(tenant: Tenant, body: string, fields: Record<string, unknown> = {}): Promise<string> {
  return createTemplate(tenant, { body, ...fields })
}

export async function contact({ api }: Tenant, fields: Record<string, unknown> = {}): Promise<{ id: string; phone: string }> {
  const answer = await api.post('contacts', { name: 'Ada Lovelace', phone: newNumber(), ...fields })
  expect(answer.status).toBe(201)
  return answer.body.data
}

/** The request body of a message rendered from a template, with overrides. */
export function made({ instance }: Tenant, templateId: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { instanceId: instance.id, to: newNumber(), templateId, ...fields }
}

export function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}
