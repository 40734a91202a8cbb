// What tests of sent templates begin with: an instance whose messages stay queued, templates and contacts.
import { expect } from 'vitest'
import { connectedInstance } from '../kit/kit.ts'
import { createTemplate, newNumber, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'

export interface Sender {
  rig: Rig
  /** Its messages stay queued. */
  asleep: Tenant
}

export async function openSender(): Promise<Sender> {
  const rig = await openRig()
  return { rig, asleep: await asleepOf(rig, rig.tenant) }
}

/** The same with an instance that is not connected. */
export async function asleepOf({ databaseUrl }: Rig, { account, api }: Tenant): Promise<Tenant> {
  return { account, api, instance: await connectedInstance(databaseUrl, account, { status: 'disconnected' }) }
}

/** The id of a template of that text. */
export function template(tenant: Tenant, body: string, fields: Record<string, unknown> = {}): Promise<string> {
  return createTemplate(tenant, { body, ...fields })
}

export async function contact({ api }: Tenant, fields: Record<string, unknown> = {}): Promise<{ id: string; phone: string }> {
  const answer = await api.post('contacts', { name: 'Ada Lovelace', phone: newNumber(), ...fields })
  expect(answer.status).toBe(201)
  return answer.body.data
}

/** A message made of a template, with what differs. */
export function made({ instance }: Tenant, templateId: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { instanceId: instance.id, to: newNumber(), templateId, ...fields }
}

export function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}
