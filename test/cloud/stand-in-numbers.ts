// Numbers and business accounts of the stand-in: what they show, registration, and the subscription of webhooks.
import { createHmac, randomBytes, randomInt } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type ApprovedByMeta, Refusal } from './stand-in-check.ts'

/** A number at Meta, with the settings that an instance needs for it. */
export interface MetaNumber {
  id: string
  businessAccountId: string
  accessToken: string
  appSecret: string
  /** The PIN of the two-step verification. */
  pin: string | undefined
  /** As Meta shows it. */
  display: string
  platform: 'CLOUD_API' | 'NOT_APPLICABLE'
  status: string
  quality: string
  limit: string
  canSend: string
  templates: ApprovedByMeta[]
  /** Digits of the recipients that Meta writes in another way, by the digits that messages are sent to. */
  addresses: ReadonlyMap<string, string>
}

interface Request {
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
}

/** The object in the body of a JSON call. @throws Refusal */
export function jsonOf({ headers, body }: Pick<Request, 'headers' | 'body'>): Record<string, unknown> {
  if (!/^application\/json(; ?charset=utf-8)?$/i.test(headers['content-type'] ?? ''))
    throw new Refusal(100, 'The body must be JSON')
  try {
    const value: unknown = JSON.parse(body.toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {}
  throw new Refusal(100, 'The body is no JSON object')
}

/** A proof of the app secret may stand in any call. @throws Refusal */
export function checkProof({ query }: Request, own: readonly MetaNumber[]): void {
  const proof = query.get('appsecret_proof')
  query.delete('appsecret_proof')
  const isOf = ({ accessToken, appSecret }: MetaNumber) =>
    proof === createHmac('sha256', appSecret).update(accessToken).digest('hex')
  if (proof !== null && !own.some(isOf)) throw new Refusal(100, 'Invalid appsecret_proof provided in the API argument')
}

export interface AccountsOfMeta {
  numbers: MetaNumber[]
  addNumber: (given?: Partial<MetaNumber>) => MetaNumber
  subscription: (businessAccountId: string) => { callback?: { url: string; verifyToken: string } } | undefined
  /** @throws Refusal */
  act: (call: string, businessAccountId: string, request: Request) => Promise<object>
  actOnNumber: (call: string, number: MetaNumber, request: Request) => object
}

export function createAccounts(): AccountsOfMeta {
  const numbers: MetaNumber[] = []
  const subscriptions = new Map<string, { callback?: { url: string; verifyToken: string } }>()

  function addNumber(given: Partial<MetaNumber> = {}): MetaNumber {
    const digits = String(randomInt(1e6, 9e6))
    const number: MetaNumber = {
      id: String(randomInt(1e14, 3e14)),
      businessAccountId: String(randomInt(1e14, 3e14)),
      accessToken: `EAA${randomBytes(24).toString('hex')}`,
      appSecret: randomBytes(16).toString('hex'),
      pin: undefined,
      display: `+1 555-${digits.slice(0, 3)}-${digits.slice(3)}`,
      platform: 'CLOUD_API',
      status: 'CONNECTED',
      quality: 'GREEN',
      limit: 'TIER_250',
      canSend: 'AVAILABLE',
      templates: [],
      addresses: new Map(),
      ...given,
    }
    numbers.push(number)
    return number
  }

  function register(number: MetaNumber, body: unknown): object {
    const { messaging_product: product, pin, ...rest } = body as Record<string, unknown>
    if (product !== 'whatsapp' || Object.keys(rest).length > 0) throw new Refusal(100, 'Invalid parameter')
    if (typeof pin !== 'string' || !/^\d{6}$/.test(pin)) throw new Refusal(131009, 'Param pin must be 6 digits')
    if (number.pin !== undefined && pin !== number.pin) throw new Refusal(133005, `Two step verification PIN ${pin} mismatch`)
    number.platform = 'CLOUD_API'
    number.status = 'CONNECTED'
    return { success: true }
  }

  async function subscribe(id: string, body: Record<string, unknown>): Promise<object> {
    const { override_callback_uri: url, verify_token: verifyToken, ...rest } = body
    if (Object.keys(rest).length > 0) throw new Refusal(100, `Unexpected key "${Object.keys(rest)[0]}"`)
    if (url === undefined && verifyToken === undefined) {
      subscriptions.set(id, {})
      return { success: true }
    }
    if (!subscriptions.has(id)) throw new Refusal(100, 'Before override the current callback uri, your app must be subscribed')
    if (typeof url !== 'string' || url.length > 200 || typeof verifyToken !== 'string' || verifyToken === '') {
      throw new Refusal(100, 'override_callback_uri and verify_token are needed, of at most 200 characters')
    }
    const challenge = String(randomInt(1e9))
    const query = new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.challenge': challenge, 'hub.verify_token': verifyToken })
    const verified = await fetch(`${url}?${query}`).then(
      async (response) => response.status === 200 && (await response.text()) === challenge,
      () => false,
    )
    if (!verified) throw new Refusal(2200, 'Callback verification failed')
    subscriptions.set(id, { callback: { url, verifyToken } })
    return { success: true }
  }

  return {
    numbers,
    addNumber,
    subscription: (id) => subscriptions.get(id),
    async act(call, id, request) {
      const { query } = request
      if (call === 'GET message_templates') {
        const all = numbers.filter(({ businessAccountId }) => businessAccountId === id).flatMap(({ templates }) => templates)
        return templatesPage(all, query)
      }
      if (call === 'POST subscribed_apps') return await subscribe(id, jsonOf(request))
      if (call === 'DELETE subscribed_apps') return { success: subscriptions.delete(id) || true }
      if (call === 'GET subscribed_apps') {
        const other = [...query.keys()][0]
        if (other !== undefined) throw new Refusal(100, `Tried accessing nonexisting field (${other})`)
        const subscription = subscriptions.get(id)
        const link = 'https://www.facebook.com/games/?app_id=1'
        const app = {
          whatsapp_business_api_data: { id: '1', link, name: 'App' },
          override_callback_uri: subscription?.callback?.url,
        }
        return { data: subscription ? [app] : [] }
      }
      throw new Refusal(100, `Unsupported ${call} request`)
    },
    actOnNumber(call, number, request) {
      if (call === 'GET ') return described(number, request.query.get('fields')?.split(',') ?? ['id', 'display_phone_number'])
      if (call === 'POST register') return register(number, jsonOf(request))
      throw new Refusal(100, `Unsupported ${call} request`)
    },
  }
}

/** The fields that were asked for. */
function described(number: MetaNumber, fields: readonly string[]): object {
  const entities = [{ entity_type: 'PHONE_NUMBER', id: number.id, can_send_message: number.canSend }]
  const all: Record<string, unknown> = {
    id: number.id,
    display_phone_number: number.display,
    verified_name: 'Test Business',
    quality_rating: number.quality,
    status: number.status,
    code_verification_status: 'VERIFIED',
    name_status: 'APPROVED',
    throughput: { level: 'STANDARD' },
    platform_type: number.platform,
    account_mode: 'LIVE',
    whatsapp_business_manager_messaging_limit: number.limit,
    health_status: { can_send_message: number.canSend, entities },
  }
  const unknown = fields.find((name) => !Object.hasOwn(all, name))
  if (unknown) throw new Refusal(100, `Tried accessing nonexisting field (${unknown})`)
  return { id: number.id, ...Object.fromEntries(fields.map((name) => [name, all[name]])) }
}

const templateFields = new Set([
  'id',
  'name',
  'language',
  'status',
  'category',
  'parameter_format',
  'components',
  'quality_score',
])

/** A page of templates. The last one has cursors too, but no `next`. */
function templatesPage(all: readonly ApprovedByMeta[], query: URLSearchParams): object {
  const other = [...query.keys()].find((name) => !['fields', 'status', 'limit', 'after'].includes(name))
  const field = query
    .get('fields')
    ?.split(',')
    .find((name) => !templateFields.has(name))
  if (other ?? field) throw new Refusal(100, `Tried accessing nonexisting field (${other ?? field})`)
  const [status, limit, after] = ['status', 'limit', 'after'].map((name) => query.get(name))
  const found = all.filter(({ listed }) => status === null || (listed?.status ?? 'APPROVED') === status)
  const from = after ? Number(Buffer.from(after, 'base64').toString()) : 0
  const to = from + Number(limit ?? 25)
  const data = found.slice(from, to).map(({ name, language, listed }) => {
    return { name, language, status: 'APPROVED', parameter_format: 'POSITIONAL', ...listed }
  })
  const cursorOf = (at: number) => Buffer.from(String(at)).toString('base64')
  const next = to < found.length && { next: 'https://graph.facebook.com/next' }
  return { data, paging: { cursors: { before: cursorOf(from), after: cursorOf(to) }, ...next } }
}
