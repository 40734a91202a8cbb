// A mail server on loopback, from the third-party library smtp-server, that keeps the mails it receives.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { atEnd } from '../kit/at-end.ts'
import { until } from '../kit/until.ts'

export interface Mail {
  to: string
  /** The mail as sent, with its headers. */
  raw: string
}

export interface Mailbox {
  /** The value for `SMTP_URL`. */
  url: string
  mails: Mail[]
  /** Mails that were offered and refused. */
  refused: Mail[]
  /** The number of open connections. */
  connections: () => number
  /** Waits for the n-th mail to that address, counted from 0, and returns its token. */
  token: (to: string, n?: number) => Promise<string>
}

export interface MailboxOptions {
  /** Any free port by default. */
  port?: number
  /** Refuses the mail with error 452 when true. */
  refuse?: () => boolean
  /** Refuses every recipient with this code and text, before the mail is sent. */
  turnAway?: string
}

/** Closes with the test, or with the file when no test runs. */
export async function openMailbox({ port = 0, refuse = () => false, turnAway }: MailboxOptions = {}): Promise<Mailbox> {
  const mails: Mail[] = []
  const refused: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo({ address }, _, done) {
      if (!turnAway) return done()
      refused.push({ to: address, raw: '' })
      const [code, ...text] = turnAway.split(' ')
      done(Object.assign(new Error(text.join(' ')), { responseCode: Number(code) }))
    },
    onData(stream, session, done) {
      keep(stream, session.envelope.rcptTo[0]?.address ?? '').then(() => done(), done)
    },
  })
  async function keep(stream: Readable, to: string): Promise<void> {
    const raw = await text(stream)
    const mail = { to, raw }
    if (refuse()) {
      refused.push(mail)
      throw Object.assign(new Error('no room'), { responseCode: 452 })
    }
    mails.push(mail)
  }
  server.on('error', () => {})
  server.listen(port, '127.0.0.1')
  await once(server.server, 'listening')
  atEnd('test', () => new Promise((resolve) => server.close(() => resolve())))
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    refused,
    connections: () => server.connections.size,
    token: async (to, n = 0) => tokenIn(await until(() => mails.filter((mail) => mail.to === to)[n])),
  }
}

/** Decodes the quoted-printable body of a mail. */
export function textOf({ raw }: Mail): string {
  const body = raw.slice(raw.indexOf('\r\n\r\n') + 4)
  return body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

export function tokenIn(mail: Mail): string {
  const [, token] = textOf(mail).match(/\?token=(\S+)/) ?? []
  if (!token) throw new Error(`no token in\n${mail.raw}`)
  return decodeURIComponent(token)
}
