// Setup of the tests of suppressions: a tenant on the shared gateway, and the other party on the sandbox network.
import { until } from '../kit/until.ts'
import { newNumber, type Tenant } from '../rest-compat/rig.ts'

/** A number that nobody else uses, with this ending. */
export function numberEnding(digits: string): string {
  return newNumber().slice(0, -4) + digits
}

/** Lets a text come in from a number. */
export async function textFrom({ api, instance }: Tenant, from: string, text: string): Promise<void> {
  const { status, body } = await api.post(`instances/${instance.id}/sandbox/inbound`, { from, type: 'text', text })
  if (status !== 201) throw new Error(JSON.stringify(body))
}

/** The list, newest first, without times. */
export async function listOf({ api }: Tenant): Promise<{ phone: string; reason: string }[]> {
  const { body } = await api.get('suppressions?limit=100')
  return body.data.suppressions.map(({ phone, reason }: { phone: string; reason: string }) => ({ phone, reason }))
}

/** Waits until a message has one of these statuses, and returns its record. */
export async function settled({ api }: Tenant, id: string, ...statuses: string[]) {
  return await until(async () => {
    const { data } = (await api.get(`messages/${id}`)).body
    return statuses.includes(data.status) ? data : undefined
  })
}
