// Setup for tests of Meta's webhook: a gateway in this process, a stand-in of the Graph API, and numbers whose webhooks the test posts.
import { expect } from 'vitest'
import { type Account, createAccount } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { type MetaNumber, openStandIn, type StandIn } from './stand-in.ts'
import { type Change, envelope, sign } from './stand-in-hooks.ts'

/** An instance, with its number at Meta. */
export interface Line {
  id: string
  number: MetaNumber
}

export type Items = Omit<Change, 'number'>

export interface HookRig {
  databaseUrl: string
  standIn: StandIn
  gateway: InnerGateway
  account: Account
  api: Api
  /** An instance that was not connected, which webhooks do not need. */
  line: (given?: Partial<MetaNumber>, owner?: Api) => Promise<Line>
  urlOf: (line: Pick<Line, 'id'>) => string
  /** Posts the bytes of a webhook, signed with the secret of the line's app, and returns the status. */
  post: (line: Line, body: string | Buffer, headers?: Record<string, string>) => Promise<number>
  /** Posts a webhook about the line's number. */
  tell: (line: Line, items: Items) => Promise<number>
  /** The counts of `gateway_cloud_items_total` that have changed since the last call. */
  counted: () => Promise<Record<string, number>>
  /** The inbound messages of a line, by the ids of the network. */
  inbound: (line: Line) => Promise<Record<string, unknown>[]>
}

export async function openHookRig(env: Record<string, string> = {}): Promise<HookRig> {
  const databaseUrl = await cloneDatabase()
  const standIn = await openStandIn()
  const account = await createAccount(databaseUrl)
  const gateway = await openGateway({ databaseUrl, env: { CLOUD_API_URL: standIn.url, RATE_LIMIT_PER_SECOND: '100000', ...env } })
  const own = api(gateway, account.apiKey)
  const urlOf: HookRig['urlOf'] = ({ id }) => `${gateway.url}/providers/cloud/${id}`
  let before: Record<string, number> = {}

  const post: HookRig['post'] = async (
    { id, number },
    body,
    headers = { 'x-hub-signature-256': sign(body, number.appSecret) },
  ) => {
    const response = await fetch(urlOf({ id }), { method: 'POST', body: Buffer.from(body), headers })
    await response.arrayBuffer()
    return response.status
  }

  return {
    databaseUrl,
    standIn,
    gateway,
    account,
    api: own,
    urlOf,
    post,
    async line(given, owner = own) {
      const number = standIn.addNumber(given)
      const settings = standIn.settingsOf(number)
      const { status, body } = await owner.post('instances', { name: 'Shop', provider: 'cloud', settings })
      expect({ status, body }).toMatchObject({ status: 201 })
      return { id: body.data.id, number }
    },
    tell: (line, items) => post(line, JSON.stringify(envelope([{ number: line.number, ...items }]))),
    async counted() {
      const text = await (await fetch(`${gateway.url}/metrics`)).text()
      const now: Record<string, number> = Object.fromEntries(
        [...text.matchAll(/^gateway_cloud_items_total\{outcome="(\w+)"\} (\d+)/gm)].map(([, name, n]) => [name, Number(n)]),
      )
      const changed = Object.entries(now).flatMap(([name, n]) =>
        n === (before[name] ?? 0) ? [] : [[name, n - (before[name] ?? 0)]],
      )
      before = now
      return Object.fromEntries(changed)
    },
    async inbound({ id }) {
      const { rows } = await sql(databaseUrl).query(
        `select id, "providerMessageId", "from", type, body, content, "mediaUrl", status from messages
         where "instanceId" = $1 and direction = 'inbound' order by "providerMessageId"`,
        [id],
      )
      return rows
    },
  }
}

/** A connected instance that sends, and how its messages fare. */
export async function connect(rig: HookRig, { id }: Line): Promise<void> {
  expect((await rig.api.post(`instances/${id}/connect`)).status).toBe(200)
  await until(async () => (await rig.api.get(`instances/${id}`)).body.data.status === 'connected')
}

let people = 0

/** A number that no other test writes to. */
export const person = () => `39333${String(7_000_000 + ++people)}`

let items = 0

/** A message that comes in, in Meta's form. */
export function messageOf(
  type: string,
  value: Record<string, unknown>,
  from: string | undefined = person(),
): Record<string, unknown> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  return { id: `wamid.in${String(++items).padStart(5, '0')}`, from, timestamp, type, [type]: value }
}
