// Proves what a sign-in in one tab does to the others of the browser, and that a tab without a stream goes on.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newAccount, newPerson, type Person, password, signIn } from '../accounts/person.ts'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('a sign-in in another tab', () => {
  it.each([
    ['of the same person leaves what was typed', true, '+491511'],
    ['of somebody else shows none of it', false, ''],
  ])('%s', async (_, isSame, left) => {
    const person = await newPerson(site, site.databaseUrl)
    await visit(site, { as: person, path: '/me/send' }, async ({ page, tab, expected }) => {
      expected.push(/401/)
      const to = page.getByRole('textbox', { name: 'To', exact: true })
      await to.fill('+491511')
      const other = await tab()
      await other.goto('/me/messages')
      await other.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
      await endSessions(person)
      for (const each of [page, other]) await each.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      await signInOn(other, isSame ? person.email : (await newAccount(site.databaseUrl)).email)
      await other.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
      expect(await to.inputValue()).toBe(left)
    })
  })
})

async function endSessions({ api }: Person): Promise<void> {
  const { body } = await api.get('/api/auth/sessions')
  for (const { id } of body.data) await api.delete(`/api/auth/sessions/${id}`)
}

async function signInOn(page: Page, email: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Email' }).fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

describe.runIf(browserFound)('a tab that asks for events, because the others hold the streams', () => {
  it('begins anew when the log does not have its place any more', async () => {
    const who = await furnished(site)
    await visit(site, { as: who.person, path: '/me/live' }, async ({ page, tab, expected }) => {
      expected.push(/400/)
      const isLive = (each: Page) => each.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      await isLive(page)
      for (const other of [await tab(), await tab()]) {
        await other.goto('/me/live')
        await isLive(other)
      }
      const last = await tab()
      let [starts, refused] = [0, false]
      await last.route('**/graphql', async (route) => {
        const { query = '' } = route.request().postDataJSON() ?? {}
        if (query.includes('query Start(')) starts++
        if (!query.includes('query EventsSince(') || starts > 1) return await route.continue()
        refused = true
        const errors = [{ message: 'after: is not an event cursor', extensions: { code: 'VALIDATION_ERROR' } }]
        await route.fulfill({ status: 400, json: { errors } })
      })
      await last.goto('/me/messages')
      await until(() => refused && starts > 1)
      await isLive(last)
      await sendText(who, '+4915112345678')
      await last
        .getByRole('row')
        .filter({ hasText: '+4915112345678' })
        .or(last.getByRole('button', { name: /^Show \d+ new$/ }))
        .waitFor()
    })
  })
})

describe.runIf(browserFound)('a session that has ended in another tab', () => {
  it('does not keep the others from being ended', async () => {
    const account = await newAccount(site.databaseUrl)
    const [here, other, last] = [await signIn(site, account), await signIn(site, account), await signIn(site, account)]
    await visit(site, { as: here, path: '/account' }, async ({ page, expected }) => {
      expected.push(/404/)
      const rows = page.getByRole('table', { name: 'Sessions' }).locator('tbody tr')
      await until(async () => (await rows.count()) === 3)
      // The newest is the first of the list.
      const { body } = await last.api.get('/api/auth/sessions')
      await last.api.delete(`/api/auth/sessions/${body.data[0].id}`)
      await page.getByRole('button', { name: 'End all others' }).click()
      await until(async () => (await rows.count()) === 1)
    })
    expect((await other.api.get('/api/auth/sessions')).status).toBe(401)
  })
})
