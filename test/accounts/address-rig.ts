// Setup for tests of who owns an address: a gateway that sends mail, sign-ups, and the verification of an address.
import { randomUUID } from 'node:crypto'
import { type Answer, type Api, api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { password } from './person.ts'

/** The password that another person chooses for the address. */
export const theirs = 'the password of mallory'
export const next = 'another horse battery'

export const newEmail = () => `${randomUUID()}@example.com`

export interface Addresses {
  databaseUrl: string
  mailbox: Mailbox
  gateway: OpenGateway
  client: Api
  signUp: (email: string, chosen?: string, name?: string) => Promise<Answer>
  verify: (token: string, fields?: object) => Promise<Answer>
}

/** Everything ends with the test file. */
export async function openAddresses(): Promise<Addresses> {
  const databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox()
  const gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  const client = api(gateway)
  return {
    databaseUrl,
    mailbox,
    gateway,
    client,
    signUp: (email, chosen = password, name = 'Ada') => client.post('/api/auth/signup', { email, password: chosen, name }),
    verify: (token, fields = {}) => client.post('/api/auth/verify-email', { token, ...fields }),
  }
}
