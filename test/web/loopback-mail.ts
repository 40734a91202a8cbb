// The messages of the loopback network: what devices send to phones, what phones write to devices, and the receipts in both directions.
import { randomBytes } from 'node:crypto'
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, type proto } from 'baileys'
import type { Account, Arrived, Connection } from './loopback-account.ts'
import type { KnownPhones } from './loopback-answers.ts'
import { retryOf } from './loopback-link.ts'
import { createPhone, type Phone } from './loopback-phone.ts'

const server = 's.whatsapp.net'
export const now = () => String(Math.floor(Date.now() / 1000))

const newStanzaId = () => `3A${randomBytes(9).toString('hex').toUpperCase()}`

export class Mail {
  readonly arrived: Arrived[] = []
  readonly phones = new Map<string, Phone>()
  readonly accounts = new Map<string, Account>()
  /** Error codes with which the next messages are refused. */
  refusals: string[] = []
  /** Acks wait until this resolves. */
  acksAfter: Promise<void> | undefined
  /** Swallows the acks of this many messages. */
  lostAcks = 0
  /** This many receipts of devices are lost with the connection that they came over. */
  lostReceipts = 0
  /** Each phone confirms what it gets. */
  delivers = false
  /** How often a device asked for a message again. */
  retries = 0
  private readonly written = new Map<string, { from: string; message: proto.IMessage | Uint8Array }>()

  addPhones(...digits: string[]): void {
    for (const number of digits) this.phones.set(number, createPhone(number))
  }

  phoneBy: KnownPhones = (jid) => {
    const [user, host] = jid.split('@') as [string, string]
    const digits = user.split(':')[0] as string
    return this.phones.get(host === 'lid' ? digits.slice(1) : digits)
  }

  /** A device got a message, or asks for it again because it cannot decrypt it. */
  protected async confirm({ account = '', ws }: Connection, id: string, type: string | undefined): Promise<void> {
    if (this.lostReceipts > 0) {
      this.lostReceipts--
      return ws.terminate()
    }
    const written = type === 'retry' ? this.written.get(id) : undefined
    if (!written) return void this.accounts.get(account)?.queue.delete(id)
    this.retries++
    this.phones.get(written.from)?.forget(account)
    await this.write(written.from, account, written.message, { id })
  }

  protected async relay({ send, account = '' }: Connection, node: BinaryNode): Promise<void> {
    const { id, to } = node.attrs as { id: string; to: string }
    const error = this.refusals.shift()
    for (const participant of getBinaryNodeChildren(getBinaryNodeChild(node, 'participants'), 'to')) {
      const phone = this.phoneBy(participant.attrs.jid as string)
      const sealed = getBinaryNodeChild(participant, 'enc')
      if (!phone || phone.digits === account || !sealed || error) continue
      const message = await phone.decrypt(account, sealed.attrs.type as string, sealed.content as Uint8Array)
      const seen = this.arrived.find((other) => other.id === id && other.to === phone.digits)
      const tags = (node.content as BinaryNode[]).map(({ tag }) => tag).filter((tag) => tag !== 'participants')
      if (seen) seen.repeats++
      else this.arrived.push({ id, from: account, to: phone.digits, message, tags, repeats: 0, at: performance.now() })
      if (this.delivers) setImmediate(() => this.receipt(account, id, phone.digits))
    }
    const ack = () => send({ tag: 'ack', attrs: { class: 'message', id, from: to, t: now(), ...(error ? { error } : {}) } })
    if (this.lostAcks > 0) this.lostAcks--
    else if (this.acksAfter) void this.acksAfter.then(ack)
    else ack()
  }

  /** A phone reports on a message. Without a type, it was delivered. */
  receipt(account: string, id: string, from: string, type?: 'read' | 'played'): void {
    this.accounts.get(account)?.connection?.send({
      tag: 'receipt',
      attrs: { id, from: `${from}@${server}`, t: now(), ...(type ? { type } : {}) },
    })
  }

  /** A phone could not decrypt a message. */
  askAgain(account: string, id: string, from: string): void {
    this.accounts.get(account)?.connection?.send(retryOf(id, `${from}@${server}`))
  }

  /** A phone writes to an account. A device that is away gets it at its next login. `attrs` replaces those of the stanza. Returns the id. */
  async write(
    from: string,
    account: string,
    message: proto.IMessage | Uint8Array,
    { id = newStanzaId(), attrs = {} }: { id?: string; attrs?: Record<string, string | undefined> } = {},
  ): Promise<string> {
    this.written.set(id, { from, message })
    const to = this.accounts.get(account) as Account
    const stanza = await (this.phones.get(from) as Phone).stanza(account, to.keys, message, id)
    stanza.attrs = Object.fromEntries(
      Object.entries({ ...stanza.attrs, ...attrs }).filter(([, value]) => value),
    ) as BinaryNode['attrs']
    to.queue.set(id, stanza)
    to.connection?.send(stanza)
    return id
  }

  /** A phone writes what a device cannot decrypt. Returns the id. */
  async writeBroken(from: string, account: string): Promise<string> {
    const to = this.accounts.get(account) as Account
    const id = newStanzaId()
    const stanza = await (this.phones.get(from) as Phone).stanza(account, to.keys, { conversation: 'broken' }, id)
    for (const node of stanza.content as BinaryNode[])
      node.content = Buffer.concat([(node.content as Uint8Array).subarray(0, -4), Buffer.alloc(4)])
    to.connection?.send(stanza)
    return id
  }
}
