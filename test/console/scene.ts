// A workspace that has something on every page, and a team.
import type { Person } from '../accounts/person.ts'
import { command } from '../kit/command.ts'
import type { Commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openReceiver } from './receiver.ts'
import { furnished, sendText } from './rig.ts'

export interface Scene {
  person: Person
  /** The ids that the addresses of pages name: `{message}`, `{team}`, … */
  ids: Record<string, string>
}

/** Texts that people wrote in it. They are the same in every language. */
export const given = [
  ...['Ada', 'Shop phone', 'Berta', 'Regulars', 'Order left', 'First key', 'The shop', 'Night shift', 'News'],
  ...['vip', 'Hello', 'STOP\nUNSUBSCRIBE'],
]

export async function openScene(site: Commons): Promise<Scene> {
  const who = await furnished(site)
  const { person, instance } = who
  const receiver = await openReceiver()
  receiver.status = 204
  await command(['account', 'operator', '--email', person.email], site)
  const graph = async (text: string, input?: object) => {
    const { body } = await person.api.graphql(text, input && { input })
    if (body.errors) throw new Error(JSON.stringify(body.errors))
    return (Object.values(body.data)[0] ?? {}) as { id: string; status: string; nodes: { id: string }[] }
  }
  const make = async (field: string, type: string, input: object) =>
    (await graph(`mutation($input: ${type}!) { made: ${field}(input: $input) { id } }`, input)).id
  const ids: Record<string, string> = { instance: instance.id }
  const reaches = (query: string, status: string) =>
    until(async () => (await graph(`{ found: ${query} { status } }`)).status === status)
  // One after the other, so that their events always have the same order.
  ids.message = await sendText(who, '+4915112340001')
  await reaches(`message(id: "${ids.message}")`, 'failed')
  const read = await sendText(who, '+4915112345678')
  await reaches(`message(id: "${read}")`, 'read')
  ids.contact = await make('createContact', 'CreateContactInput', { name: 'Berta', phone: '+4915112345678', tags: ['vip'] })
  ids.group = await make('createContactGroup', 'CreateContactGroupInput', { name: 'Regulars' })
  await graph(`mutation { addGroupMembers(groupId: "${ids.group}", contactIds: ["${ids.contact}"]) { added } }`)
  const body = 'Hello {{contact.name}}, order {{custom.order | default: "?"}} left.'
  ids.template = await make('createTemplate', 'CreateTemplateInput', { name: 'Order left', type: 'text', body })
  await graph('mutation { createSuppression(input: { phone: "+4915112345679" }) { phone } }')
  await make('createApiKey', 'CreateApiKeyInput', { name: 'The shop' })
  ids.team = await make('createTeam', 'CreateTeamInput', { name: 'Night shift' })
  const url = receiver.url
  ids.endpoint = await make('createWebhook', 'CreateWebhookInput', { url, events: ['instance_connected'] })
  ids.delivery = (await graph(`mutation { made: testWebhook(id: "${ids.endpoint}") { id } }`)).id
  await reaches(`webhookDelivery(id: "${ids.delivery}")`, 'delivered')
  // Of tomorrow, so that it looks the same while the pages are read.
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const recipients = ['+4915112345671', '+4915112345672'].map((to) => ({ to }))
  const news = { instanceId: instance.id, name: 'News', type: 'text', text: 'Hello', scheduledAt, recipients }
  ids.campaign = await make('createCampaign', 'CreateCampaignInput', news)
  // A page that opens before all of this is in the log would show it as new.
  const waiting = 'select from outbox o join instances i on i."workspaceId" = o."workspaceId" where i.id = $1'
  await until(async () => (await sql(site.databaseUrl).query(waiting, [instance.id])).rowCount === 0)
  return { person, ids }
}

/** An address with the ids of the scene. */
export function addressIn({ ids }: Scene, path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] as string)
}
