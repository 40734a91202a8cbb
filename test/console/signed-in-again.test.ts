// Proves that somebody who signs in again stays signed in, although answers to the session before come late.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newPerson, type Person, password } from '../accounts/person.ts'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, visit } from './rig.ts'

const site = commons()

async function signOutAndIn(page: Page, { email }: Person): Promise<void> {
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('textbox', { name: 'Email' }).fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
}

describe.runIf(browserFound).concurrent('a session that begins', () => {
  it('waits for the answer to the sign-out before it, which clears the cookie', async () => {
    const person = await newPerson(site, site.databaseUrl)
    await visit(site, { as: person, path: '/me' }, async ({ page }) => {
      const order: string[] = []
      page.on('request', (request) => request.url().endsWith('/api/auth/login') && order.push('sign-in'))
      await page.route('**/api/auth/logout', async (route) => {
        const response = await route.fetch()
        await until(() => page.getByRole('button', { name: 'Sign in' }).isDisabled())
        order.push('signed out')
        await route.fulfill({ response })
      })
      await signOutAndIn(page, person)
      expect(order).toEqual(['signed out', 'sign-in'])
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    })
  })

  it('is not ended by a late refusal of the one before', async () => {
    const person = await newPerson(site, site.databaseUrl)
    await visit(site, { as: person, path: '/me' }, async ({ page, expected }) => {
      expected.push(/401/)
      await page.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      const late = Promise.withResolvers<void>()
      let refused = false
      await page.route('**/api/auth/token', async (route) => {
        const response = await route.fetch()
        refused = response.status() === 401
        await late.promise
        await route.fulfill({ response })
      })
      const { body } = await person.api.get('/api/auth/sessions')
      for (const { id } of body.data) await person.api.delete(`/api/auth/sessions/${id}`)
      await until(() => refused)
      await signOutAndIn(page, person)
      const answered = page.waitForResponse('**/api/auth/token')
      late.resolve()
      await answered
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Messages' }).click()
      await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
    })
  })
})
