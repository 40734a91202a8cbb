// Webhooks of the stand-in: makes them in Meta's form, signs them, and posts them in any order and number.
import { createHmac } from 'node:crypto'
import type { MetaNumber, Taken } from './stand-in.ts'

type Item = Record<string, unknown>

/** The part of a webhook that is about one number. */
export interface Change {
  number: Pick<MetaNumber, 'id' | 'businessAccountId' | 'display'>
  statuses?: Item[]
  messages?: Item[]
  contacts?: Item[]
}

export function sign(body: string | Buffer, appSecret: string): string {
  return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
}

/** One webhook with any number of changes: one entry for each business account. */
export function envelope(changes: readonly Change[]): object {
  const entries = Map.groupBy(changes, ({ number }) => number.businessAccountId)
  return {
    object: 'whatsapp_business_account',
    entry: [...entries].map(([id, list]) => ({
      id,
      changes: list.map(({ number, ...items }) => ({
        field: 'messages',
        value: {
          messaging_product: 'whatsapp',
          metadata: { display_phone_number: number.display.replace(/\D/g, ''), phone_number_id: number.id },
          ...items,
        },
      })),
    })),
  }
}

/** A status of a message, as Meta reports it. */
export function statusOf(
  message: Pick<Taken, 'wamid' | 'to' | 'biz_opaque_callback_data'>,
  status: string,
  more: Item = {},
): Item {
  return {
    id: message.wamid,
    status,
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: message.to.replace('+', ''),
    conversation: { id: 'c0ffee', origin: { type: 'utility' } },
    pricing: { billable: true, pricing_model: 'PMP', category: 'utility', type: 'regular' },
    biz_opaque_callback_data: message.biz_opaque_callback_data,
    ...more,
  }
}

/** Posts a webhook that is signed with the app's secret. Returns the status of the answer. */
export async function post(url: string, appSecret: string, body: object): Promise<number> {
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': sign(text, appSecret) }
  const response = await fetch(url, { method: 'POST', headers, body: text })
  await response.arrayBuffer()
  return response.status
}

/** Posts each change by itself, in this order, each `times` times. */
export async function postEach(url: string, appSecret: string, changes: readonly Change[], times = 1): Promise<number[]> {
  const answers: number[] = []
  for (const change of changes) {
    for (let n = 0; n < times; n++) answers.push(await post(url, appSecret, envelope([change])))
  }
  return answers
}
