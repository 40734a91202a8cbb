// Proves that a sign-in through an identity provider leads back to the console: to the page that asked for it, or with the reason of a refusal.
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openProvider } from '../accounts/identity-provider.ts'
import { newPerson } from '../accounts/person.ts'
import { commons } from '../kit/commons.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { lastMailTo } from './mails.ts'
import { browserFound, visit } from './rig.ts'

describe.runIf(browserFound)('single sign-on', () => {
  it('leads a person who was invited into the team', async () => {
    const databaseUrl = await cloneDatabase()
    const provider = await openProvider()
    const gateway = await openGateway({ databaseUrl, env: { ...provider.env, DATA_DIR: commons().dataDir } })
    provider.allow(`${gateway.url}/api/auth/oauth/example/callback`)
    const owner = await newPerson(gateway, databaseUrl, 'pro')
    const { id } = (await owner.api.post('/api/teams', { name: 'Crew' })).body.data
    const email = `${randomUUID()}@example.com`
    await owner.api.post(`/api/teams/${id}/invitations`, { email, role: 'collaborator' })
    provider.claims = { sub: randomUUID(), email, email_verified: true, name: 'Ada' }
    const { search } = new URL(await lastMailTo(email))
    await visit({ url: gateway.url, databaseUrl }, { path: `/invitation${search}` }, async ({ page, expected }) => {
      // The first question for a session, which there is none of yet.
      expected.push(/401/, new RegExp(`^request to http://127.0.0.1:${provider.port}/`))
      await page.getByRole('button', { name: 'Sign in with single sign-on' }).click()
      await page.getByRole('button', { name: 'Join' }).click()
      await page.waitForURL(`**/t/${id}`)
      expect(page.url()).not.toContain('token')
    })
  })

  it('returns a person who may not have an account to the sign-in page, which says so', async () => {
    const databaseUrl = await cloneDatabase()
    const provider = await openProvider()
    const env = { ...provider.env, DATA_DIR: commons().dataDir, SIGNUP: 'closed' }
    const gateway = await openGateway({ databaseUrl, env })
    provider.allow(`${gateway.url}/api/auth/oauth/example/callback`)
    provider.claims = { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, name: 'Ada' }
    await visit({ url: gateway.url, databaseUrl }, { path: '/sign-in' }, async ({ page, expected }) => {
      expected.push(/401/, new RegExp(`^request to http://127.0.0.1:${provider.port}/`))
      await page.getByRole('button', { name: 'Sign in with single sign-on' }).click()
      await page.getByRole('alert').getByText('You have no account here').waitFor()
    })
  })
})
