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

/** Answers to the requests to this route once somebody signs in, and notes their order among the sign-ins. */
async function answerLate(page: Page, route: string, order: string[]): Promise<{ isAsked: () => boolean }> {
  let asked = false
  page.on('request', (request) => request.url().endsWith('/api/auth/login') && order.push('sign-in'))
  await page.route(`**/api/auth/${route}`, async (each) => {
    const response = await each.fetch()
    asked = true
    await until(() => page.getByRole('button', { name: 'Sign in' }).isDisabled())
    order.push(route)
    await each.fulfill({ response })
  })
  return { isAsked: () => asked }
}

describe.runIf(browserFound).concurrent('a session that begins', () => {
  it('waits for the answer to the sign-out before it, which clears the cookie', async () => {
    const person = await newPerson(site, site.databaseUrl)
    await visit(site, { as: person, path: '/me' }, async ({ page }) => {
      const order: string[] = []
      await answerLate(page, 'logout', order)
      await signOutAndIn(page, person)
      expect(order).toEqual(['logout', 'sign-in'])
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    })
  })

  it('waits for the refusal of the session before it, which clears the cookie', async () => {
    const person = await newPerson(site, site.databaseUrl)
    await visit(site, { as: person, path: '/me' }, async ({ page, expected }) => {
      expected.push(/401/)
      await page.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      const order: string[] = []
      const { isAsked } = await answerLate(page, 'token', order)
      const { body } = await person.api.get('/api/auth/sessions')
      for (const { id } of body.data) await person.api.delete(`/api/auth/sessions/${id}`)
      await until(isAsked)
      await signOutAndIn(page, person)
      // A page may ask for several tokens.
      expect(order).toEqual([...Array(order.length - 1).fill('token'), 'sign-in'])
      expect(order.length).toBeGreaterThan(1)
      await page.unrouteAll()
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    })
  })
})
