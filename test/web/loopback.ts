// A WhatsApp network on loopback: linked devices log in by the real protocol, and phones write to them and read from them.
import { type BinaryNode, getBinaryNodeChild, type proto } from 'baileys'
import type { WebSocket } from 'ws'
import type { Connection } from './loopback-account.ts'
import { answerTo } from './loopback-answers.ts'
import { enterCode } from './loopback-code.ts'
import { linkOf, pairingOffer } from './loopback-link.ts'
import { Mail, now } from './loopback-mail.ts'
import { acceptNoise } from './loopback-noise.ts'
import { type OpenServer, openServer } from './loopback-server.ts'

export type { Arrived } from './loopback-account.ts'
export { rootKey } from './loopback-noise.ts'

const server = 's.whatsapp.net'

export class Loopback extends Mail {
  readonly requests: BinaryNode[] = []
  readonly faults: Error[] = []
  /** Connections that a second one with the same login has replaced (440). */
  replaced = 0
  /** Called at each replacement with the path of the first connection. */
  onReplaced: ((path: string) => void) | undefined
  logins = 0
  /** Logins that wait at present. */
  loggingIn = 0
  /** Logins wait until this resolves. */
  loginsAfter: Promise<void> = Promise.resolve()
  /** Devices that were just paired log in again after this resolves. */
  restartsAfter: Promise<void> = Promise.resolve()
  /** Answers a login in place of `success`. */
  onLogin: ((digits: string) => BinaryNode | undefined) | undefined
  /**
   * Devices before `oldest` are refused, which `refused` counts. The script of the network's own client names `newest`. `last` is what the
   * last device said.
   */
  readonly versions = { oldest: 0, refused: 0, newest: 0, last: 0 }
  /** Refuses a request (iq) with this code in place of an answer. `lost`: it gets no answer. */
  onRequest: ((request: BinaryNode) => string | undefined) | undefined
  /** The host to which devices upload their files. */
  mediaHost: string | undefined
  /** Digits of the addresses of numbers that are written in another way. */
  readonly addresses = new Map<string, string>()
  /** The network's answers about the lock on new chats and about their number, by name. */
  standing: Record<string, unknown> = {}
  port = 0
  private server: OpenServer | undefined
  private readonly unpaired = new Set<Connection>()

  /** Value of WEB_SOCKET_URL. */
  get url(): string {
    return `ws://127.0.0.1:${this.port}/ws/chat`
  }

  async listen(): Promise<this> {
    const script = () => `{"client_revision":${this.versions.newest}}`
    this.server = await openServer(this.port, script, (ws, path) => this.accept(ws, path))
    this.port = this.server.port
    return this
  }

  async close(): Promise<void> {
    await this.server?.close()
    this.server = undefined
  }

  /** Digits of the accounts that are connected. */
  get connected(): string[] {
    return [...this.accounts.values()].filter(({ connection }) => connection).map(({ digits }) => digits)
  }

  /** Connections of devices that are not paired, or just were. */
  get pairing(): number {
    return this.unpaired.size
  }

  private accept(ws: WebSocket, path: string): void {
    const connection: Connection = { ws, path, nodes: 0, send: () => {} }
    const noise = acceptNoise(ws, {
      opened: async (payload) => {
        this.loggingIn++
        await this.loginsAfter
        this.loggingIn--
        if (ws.readyState === ws.OPEN) this.opened(connection, payload)
      },
      node: (node) => this.take(connection, node),
      fault: (error) => void this.faults.push(error),
    })
    connection.send = noise.send
    ws.on('error', () => {})
    ws.on('close', () => {
      this.unpaired.delete(connection)
      const account = this.accounts.get(connection.account ?? '')
      if (account?.connection === connection) account.connection = undefined
    })
  }

  private opened(connection: Connection, { username, devicePairingData, userAgent }: proto.ClientPayload): void {
    this.versions.last = userAgent?.appVersion?.tertiary ?? 0
    if (this.versions.last < this.versions.oldest) {
      this.versions.refused++
      connection.send({ tag: 'failure', attrs: { reason: '405' } })
      return
    }
    if (!username) {
      connection.registration = devicePairingData
      this.unpaired.add(connection)
      connection.send(pairingOffer())
      return
    }
    const digits = username.toString()
    const account = this.accounts.get(digits)
    this.logins++
    const refused = this.onLogin?.(digits)
    const refusal = refused ?? (!account || account.removed ? { tag: 'failure', attrs: { reason: '401' } } : undefined)
    if (refusal || !account) {
      connection.send(refusal as BinaryNode)
      return
    }
    if (account.connection) {
      this.replaced++
      this.onReplaced?.(account.connection.path)
      account.connection.send({ tag: 'stream:error', attrs: {}, content: [{ tag: 'conflict', attrs: { type: 'replaced' } }] })
    }
    connection.account = digits
    account.connection = connection
    connection.send({ tag: 'success', attrs: { t: now(), lid: `7${digits}:1@lid` } })
    setImmediate(() => {
      for (const { attrs, ...stanza } of account.queue.values()) connection.send({ ...stanza, attrs: { ...attrs, offline: '0' } })
      const count = String(account.queue.size)
      connection.send({ tag: 'ib', attrs: { from: server }, content: [{ tag: 'offline', attrs: { count } }] })
    })
  }

  /** The phone with this number scans a QR code, which links the device that shows it. */
  scan(qr: string, digits: string): void {
    const [, , identity, secret] = (qr.split('#')[1] as string).split(',') as [string, string, string, string]
    const connection = [...this.unpaired].find(
      ({ registration }) => Buffer.from(registration?.eIdent ?? []).toString('base64') === identity,
    )
    if (!connection) throw new Error('no device shows this code')
    this.link(connection, digits, Buffer.from(secret, 'base64'))
  }

  /** The phone with this number enters the code that a device shows, which links the device. */
  async enter(code: string, digits: string): Promise<void> {
    const connection = [...this.unpaired].find(({ hello }) => hello?.attrs.jid === `${digits}@${server}`)
    if (!connection?.hello) throw new Error('no device waits for this code')
    connection.entry = { digits, ...(await enterCode(connection.hello, code.replace('-', ''))) }
    connection.send(connection.entry.notification)
  }

  private link(connection: Connection, digits: string, secret: Buffer): void {
    const { keys, stanza } = linkOf(connection.registration ?? {}, digits, secret)
    this.accounts.set(digits, { digits, keys, queue: new Map(), removed: false })
    this.addPhones(digits)
    connection.send(stanza)
  }

  private async take(connection: Connection, node: BinaryNode): Promise<void> {
    this.requests.push(node)
    connection.nodes++
    if (this.requests.length > 2_000) this.requests.shift()
    if (node.tag === 'iq' && node.attrs.type === 'result') {
      // After the pairing, the device logs in on a new connection.
      if (node.attrs.id !== 'pair2') return
      await this.restartsAfter
      connection.send({ tag: 'stream:error', attrs: { code: '515' } })
    } else if (node.tag === 'iq') this.answer(connection, node)
    else if (node.tag === 'message') await this.relay(connection, node)
    else if (node.tag === 'receipt' && node.attrs.id) await this.confirm(connection, node.attrs.id, node.attrs.type)
  }

  private answer(connection: Connection, node: BinaryNode): void {
    const refused = this.onRequest?.(node)
    if (refused === 'lost') return
    const error = refused && [{ tag: 'error', attrs: { code: refused, text: 'refused' } }]
    connection.send({
      tag: 'iq',
      attrs: { from: server, type: error ? 'error' : 'result', id: node.attrs.id as string },
      content: error || answerTo(node, this),
    })
    if (error) return
    const code = getBinaryNodeChild(node, 'link_code_companion_reg')
    const { entry } = connection
    if (code?.attrs.stage === 'companion_hello') connection.hello = code
    if (code?.attrs.stage === 'companion_finish' && entry) this.link(connection, entry.digits, entry.finish(code))
    if (!getBinaryNodeChild(node, 'remove-companion-device')) return
    const account = this.accounts.get(connection.account ?? '')
    if (account) account.removed = true
    connection.send({
      tag: 'stream:error',
      attrs: { code: '401' },
      content: [{ tag: 'conflict', attrs: { type: 'device_removed' } }],
    })
  }

  /** Closes the connection of an account with a stream error. */
  disconnect(account: string, code: string): void {
    this.accounts.get(account)?.connection?.send({ tag: 'stream:error', attrs: { code } })
  }
}
