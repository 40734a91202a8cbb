// Stand-in of Meta's Graph API on loopback: numbers, registration, webhooks, media and messages, as strict as Meta's documentation.
// On demand it loses answers, hangs, throttles, and answers any error.
import { createHash, randomBytes, randomInt } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../kit/at-end.ts'
import type { ApprovedByMeta, CheckedMessage, Uploaded } from './stand-in-check.ts'
import { checkMessage, checkRead, errorOf, Refusal } from './stand-in-check.ts'
import { checkProof, createAccounts, jsonOf, type MetaNumber } from './stand-in-numbers.ts'
import { readUpload } from './stand-in-upload.ts'

export type { MetaNumber } from './stand-in-numbers.ts'

/** A request as it arrived. */
export interface Seen {
  method: string
  /** Without the version. */
  path: string
  query: URLSearchParams
  headers: http.IncomingHttpHeaders
  body: Buffer
}

export interface Taken extends CheckedMessage {
  wamid: string
  phoneNumberId: string
}

/** An error of the Graph API, an answer of something else, or none. `lose` does what was asked, and says nothing; a promise is waited for. */
export type Effect =
  | { code: number; subcode?: number; status?: number; details?: string; retryAfter?: number }
  | { bare: number; body?: string; retryAfter?: number; location?: string }
  | Promise<void>
  | 'lose'
  | 'drop'
  | 'hang'

export interface Fault {
  /** The requests that it meets: method and path, such as `POST 123/messages`. */
  on: RegExp
  effect: Effect
  /** How often; 1 by default. */
  times?: number
}

export interface StandIn {
  /** For CLOUD_API_URL. */
  url: string
  version: string
  requests: Seen[]
  messages: Taken[]
  uploads: Map<string, Uploaded>
  /** A number with an account, a token and an app of its own, unless given. */
  addNumber: (given?: Partial<MetaNumber>) => MetaNumber
  /** The settings of an instance for a number. */
  settingsOf: (number: MetaNumber) => Record<string, string>
  addFault: (fault: Fault) => void
  clearFaults: () => void
  /** Requests that hang now. */
  hanging: () => number
  /** Runs before a message is answered, so that its statuses overtake the answer. */
  onMessage: ((message: Taken, number: MetaNumber) => Promise<void>) | undefined
  /** A file that somebody sent to the number. */
  addMedia: (number: MetaNumber, mimeType: string, bytes: Buffer) => Uploaded
  /** The callback that the webhooks of a business account go to. */
  callbackOf: (businessAccountId: string) => { url: string; verifyToken: string } | undefined
  isSubscribed: (businessAccountId: string) => boolean
  approve: (number: MetaNumber, template: ApprovedByMeta) => void
  count: (on: RegExp) => number
}

/** Starts a stand-in, which ends with the file. */
export async function openStandIn(version = 'v25.0'): Promise<StandIn> {
  const faults: Required<Fault>[] = []
  const held = new Set<http.ServerResponse>()
  const accounts = createAccounts()
  const standIn: StandIn = {
    url: '',
    version,
    requests: [],
    messages: [],
    uploads: new Map(),
    onMessage: undefined,
    addNumber: accounts.addNumber,
    settingsOf: ({ id, businessAccountId, accessToken, appSecret, pin }) => ({
      phoneNumberId: id,
      businessAccountId,
      accessToken,
      appSecret,
      ...(pin && { pin }),
    }),
    addFault: (fault) => void faults.push({ times: 1, ...fault }),
    clearFaults: () => {
      faults.length = 0
      for (const response of held) response.destroy()
    },
    hanging: () => held.size,
    addMedia({ id: phoneNumberId }, mimeType, bytes) {
      const upload = { id: idOf(), phoneNumberId, mimeType, bytes }
      standIn.uploads.set(upload.id, upload)
      return upload
    },
    callbackOf: (id) => accounts.subscription(id)?.callback,
    isSubscribed: (id) => accounts.subscription(id) !== undefined,
    approve: (number, template) => void number.templates.push(template),
    count: (on) => standIn.requests.filter(({ method, path }) => on.test(`${method} ${path}`)).length,
  }

  async function handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url as string, 'http://graph')
    const seen: Seen = {
      method: request.method as string,
      path: url.pathname.replace(`/${version}/`, ''),
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks),
    }
    standIn.requests.push(seen)
    const fault = faults.find(({ on, times }) => times > 0 && on.test(`${seen.method} ${seen.path}`))
    if (fault) fault.times--
    const effect = fault?.effect
    if (effect === 'drop') return void request.socket.destroy()
    if (effect === 'hang') {
      held.add(response)
      response.on('close', () => held.delete(response))
      return
    }
    if (effect instanceof Promise) await effect
    else if (typeof effect === 'object') {
      if (effect.retryAfter !== undefined) response.setHeader('retry-after', effect.retryAfter)
      if ('bare' in effect) {
        if (effect.location !== undefined) response.setHeader('location', effect.location)
        return void response.writeHead(effect.bare).end(effect.body ?? '')
      }
      const { code, subcode, status = 400, details = `details of ${code}` } = effect
      return answer(response, status, errorOf(code, details, subcode))
    }
    try {
      const done = url.pathname.startsWith('/files/') ? file(seen) : await act(seen, url.pathname)
      if (effect === 'lose') return void request.socket.destroy()
      if (Buffer.isBuffer(done)) response.end(done)
      else answer(response, 200, done)
    } catch (error) {
      const { code, details, status } = error instanceof Refusal ? error : new Refusal(131000, String(error), 500)
      answer(response, status, errorOf(code, details))
    }
  }

  /** The numbers that the token of a request has. */
  function ownOf({ headers }: Seen): MetaNumber[] {
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    const own = accounts.numbers.filter(({ accessToken }) => accessToken === token)
    // Meta repeats the token in these words.
    if (own.length === 0) throw new Refusal(190, `Malformed access token ${token}`, 401)
    return own
  }

  function uploadOf(id: string, own: readonly MetaNumber[]): Uploaded | undefined {
    const upload = standIn.uploads.get(id)
    return upload && own.some((number) => number.id === upload.phoneNumberId) ? upload : undefined
  }

  /** The bytes of a file, at the address that reading it gave. */
  function file(seen: Seen): Buffer {
    const upload = uploadOf(seen.path.replace('/files/', ''), ownOf(seen))
    if (!upload) throw new Refusal(100, 'Media does not exist', 404)
    return upload.bytes
  }

  async function act(seen: Seen, pathname: string): Promise<object> {
    if (!pathname.startsWith(`/${version}/`)) throw new Refusal(2500, `Unknown path components: ${pathname}`)
    const [id = '', edge] = seen.path.split('/')
    const own = ownOf(seen)
    checkProof(seen, own)
    const number = own.find((each) => each.id === id)
    const call = `${seen.method} ${edge ?? ''}`
    const upload = uploadOf(id, own)
    if (call === 'GET ' && upload) {
      if ((seen.query.get('phone_number_id') ?? upload.phoneNumberId) === upload.phoneNumberId) return mediaOf(upload)
      throw new Refusal(100, 'The media is of another phone number')
    }
    if (own.some(({ businessAccountId }) => businessAccountId === id)) return await accounts.act(call, id, seen)
    if (!number) throw new Refusal(100, `Object with ID '${id}' does not exist, cannot be loaded due to missing permissions`)
    if (call === 'POST messages') return await message(seen, number)
    if (call === 'POST media') {
      const upload = { id: idOf(), phoneNumberId: id, ...readUpload(seen) }
      standIn.uploads.set(upload.id, upload)
      return { id: upload.id }
    }
    return accounts.actOnNumber(call, number, seen)
  }

  function mediaOf({ id, mimeType, bytes }: Uploaded): object {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return {
      messaging_product: 'whatsapp',
      url: `${standIn.url}/files/${id}`,
      mime_type: mimeType,
      sha256,
      file_size: bytes.length,
      id,
    }
  }

  async function message(seen: Seen, number: MetaNumber): Promise<object> {
    const parsed = jsonOf(seen)
    if (number.platform !== 'CLOUD_API' || number.status === 'PENDING') throw new Refusal(133010, 'The account is not registered')
    if ('status' in parsed) return checkRead(parsed)
    const upload = (id: string) => {
      const found = standIn.uploads.get(id)
      return found?.phoneNumberId === number.id ? found : undefined
    }
    const checked = checkMessage(parsed, { waNumber: number.display, templates: number.templates, upload })
    const taken: Taken = { ...checked, wamid: `wamid.${randomBytes(24).toString('base64')}`, phoneNumberId: number.id }
    standIn.messages.push(taken)
    await standIn.onMessage?.(taken, number)
    const digits = checked.to.replace('+', '')
    return {
      messaging_product: 'whatsapp',
      contacts: [{ input: checked.to, wa_id: number.addresses.get(digits) ?? digits }],
      messages: [{ id: taken.wamid, message_status: 'accepted' }],
    }
  }

  const server = http.createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  standIn.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  atEnd('file', async () => {
    server.closeAllConnections()
    server.close()
  })
  return standIn
}

function answer(response: http.ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body))
}

function idOf(): string {
  return String(randomInt(1e14, 3e14))
}
