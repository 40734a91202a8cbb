// Mails that strangers request for accounts with tags of a mailbox (`name+tag@`) take no link from its owner, and are few.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/service.ts'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { password } from './person.ts'

let databaseUrl: string
let client: Api

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  client = api(await openGateway({ databaseUrl }))
})

/** A mailbox of which strangers have signed up with six tags, and have asked for a new password for each. */
async function crowded(): Promise<(tag?: string) => string> {
  const name = randomUUID()
  const address = (tag?: string) => `${name}${tag ? `+${tag}` : ''}@example.com`
  const ask = async (n: number) => {
    const email = address(`${n}`)
    expect((await client.post('/api/auth/signup', { email, password, name: 'Stranger' })).status).toBe(201)
    await client.post('/api/auth/password/forgot', { email })
  }
  await Promise.all(Array.from({ length: 6 }, (_, n) => ask(n + 1)))
  return address
}

/** The kinds of the links that were sent to addresses like that one. */
async function linksTo(pattern: string): Promise<string[]> {
  const { rows } = await sql(databaseUrl).query<{ kind: string }>(
    `select case when v.value like 'verify-email:%' then 'verify' else 'reset' end as kind
     from auth_verifications v join users u on v.value in (u.id::text, 'verify-email:' || u.id) where u.email like $1 order by 1`,
    [pattern],
  )
  return rows.map(({ kind }) => kind)
}

it.each(['', 'mine'])('the owner of a verified address gets a new password: tag "%s"', async (tag) => {
  const address = await crowded()
  const email = address(tag)
  await createAccount(prisma(databaseUrl), { email, name: 'Ada', plan: 'free', password })
  await client.post('/api/auth/password/forgot', { email })
  expect(await linksTo(email)).toEqual(['reset'])
})

it('a new person signs up with the address without a tag, and gets a new password for it', async () => {
  const address = await crowded()
  const email = address()
  await client.post('/api/auth/signup', { email, password, name: 'Ada' })
  await client.post('/api/auth/password/forgot', { email })
  expect(await linksTo(email)).toEqual(['reset', 'verify'])
})

it('the tags that nobody has verified get five links of each kind in an hour together', async () => {
  const address = await crowded()
  const five = (kind: string) => Array<string>(5).fill(kind)
  expect(await linksTo(address('%'))).toEqual([...five('reset'), ...five('verify')])
})
