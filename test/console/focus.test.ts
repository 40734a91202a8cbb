// Proves that the keyboard keeps its place: where a button works for a moment, where its row goes, and in lists that are read again.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openReceiver } from './receiver.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

async function hasFocus(element: Locator): Promise<boolean> {
  return await element.evaluate((found) => document.activeElement === found)
}

/** The part that keeps the focus comes after the first page. Importing it once more waits until it has run. */
async function untilKept(page: Page): Promise<void> {
  const names = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  const part = await until(async () => (await names()).find((name) => /\/attention-[^/]*\.js$/.test(name)))
  await page.evaluate((url) => import(url), part)
}

async function pressBy(page: Page, button: Locator): Promise<void> {
  await button.focus()
  await page.keyboard.press('Enter')
}

describe.runIf(browserFound)('the focus', () => {
  it('stays on a button that works, and in a dialog whose form is refused', async () => {
    const { person } = await furnished(site)
    const { id } = (await person.api.post('/api/teams', { name: 'Crew' })).body.data
    await visit(site, { as: person, path: `/t/${id}/team` }, async ({ page, expected }) => {
      expected.push(/400/)
      await untilKept(page)
      await pressBy(page, page.getByRole('button', { name: 'Invite' }))
      const send = page.getByRole('dialog').getByRole('button', { name: 'Send invitation' })
      await pressBy(page, send)
      await until(async () => (await page.getByLabel('Email').getAttribute('aria-invalid')) === 'true')
      await until(() => hasFocus(send))
      await page.keyboard.press('Escape')
      expect(await hasFocus(page.getByRole('button', { name: 'Invite' }))).toBe(true)
    })
  })

  it('goes to the row beside one that is removed, and to the heading after the last one', async () => {
    const { person } = await furnished(site)
    const { id } = (await person.api.post('/api/teams', { name: 'Crew' })).body.data
    for (const name of ['ada', 'bea', 'cora']) {
      await person.api.post(`/api/teams/${id}/invitations`, { email: `${name}@example.com`, role: 'admin' })
    }
    await visit(site, { as: person, path: `/t/${id}/team` }, async ({ page }) => {
      await untilKept(page)
      const rows = page.getByRole('table', { name: 'Invitations' }).getByRole('row')
      const withdraw = page.getByRole('button', { name: /^Withdraw: / })
      await until(async () => (await withdraw.count()) === 3)
      const emails = await withdraw.evaluateAll((all) => all.map((each) => each.ariaLabel?.replace('Withdraw: ', '') ?? ''))
      const rowOf = (n: number) => rows.filter({ hasText: emails[n] ?? '' })
      await pressBy(page, withdraw.nth(1))
      await until(() => hasFocus(rowOf(2)))
      // Enter does nothing there, Tab goes to the button.
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      expect(await hasFocus(withdraw.nth(1))).toBe(true)
      await page.keyboard.press('Enter')
      await until(() => hasFocus(rowOf(0)))
      await pressBy(page, withdraw)
      await until(() => hasFocus(page.getByRole('heading', { level: 1 })))
    })
  })

  it('goes to the next row after the dialog that removes one, and to the last row when there are no more to load', async () => {
    const { person } = await furnished(site)
    for (let n = 0; n < 52; n++) await person.api.post('/api/suppressions', { phone: `+49151123400${10 + n}` })
    await visit(site, { as: person, path: '/me/suppressions' }, async ({ page }) => {
      await untilKept(page)
      const rows = page.getByRole('table', { name: 'Numbers' }).getByRole('row')
      await until(async () => (await rows.count()) === 51)
      await pressBy(page, page.getByRole('main').getByRole('button', { name: 'Show more' }))
      await until(async () => (await rows.count()) === 53)
      await until(() => hasFocus(rows.last()))
      const next = await rows.nth(4).getByRole('cell').first().textContent()
      await pressBy(page, rows.nth(3).getByRole('button'))
      await pressBy(page, page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }))
      await until(() => hasFocus(rows.filter({ hasText: next ?? '' })))
    })
  })

  it('stays on the button of a test event, and the deliveries that were loaded stay', async () => {
    const { person } = await furnished(site)
    const { url } = await openReceiver()
    const input = { url, events: ['message_sent'] }
    const made = await person.api.graphql('mutation($input: CreateWebhookInput!) { made: createWebhook(input: $input) { id } }', {
      input,
    })
    const { id } = made.body.data.made
    await sql(site.databaseUrl).query(
      `insert into webhook_deliveries (id, "endpointId", "eventId", type, payload, status, attempts, "attemptsLeft", "createdAt")
        select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', '{}', 'delivered', 1, 0, now() - make_interval(hours => n)
        from generate_series(1, 55) n`,
      [id],
    )
    await visit(site, { as: person, path: `/me/webhooks/${id}` }, async ({ page }) => {
      await untilKept(page)
      const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row')
      await until(async () => (await rows.count()) === 51)
      await page.getByRole('main').getByRole('button', { name: 'Show more' }).click()
      await until(async () => (await rows.count()) === 56)
      const test = page.getByRole('button', { name: 'Send test event' })
      await pressBy(page, test)
      await page.getByRole('table', { name: 'Deliveries' }).getByText('Failed', { exact: true }).waitFor()
      // The new row is there before the further pages are read again, and the last row leaves with them.
      await until(async () => (await rows.count()) === 56)
      await until(() => hasFocus(test))
    })
  })

  it('stays where the reader has gone while the page is being read', async () => {
    const who = await furnished(site)
    await sendText(who, '+4915112345678')
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page }) => {
      const held = Promise.withResolvers<void>()
      await page.route('**/graphql', async (route) => {
        if (route.request().postData()?.includes('query Message(')) await held.promise
        await route.continue()
      })
      await page.getByRole('link', { name: '+4915112345678' }).click()
      const heading = page.getByRole('heading', { level: 1, name: 'Message', exact: true })
      await until(() => hasFocus(heading))
      const workspace = page.getByRole('button', { name: 'Workspace' })
      await workspace.focus()
      held.resolve()
      await page.getByRole('list', { name: 'Timeline' }).waitFor()
      expect(await hasFocus(workspace)).toBe(true)
    })
  })

  it('is in the field of a page that asks for something, also on the way from another page', async () => {
    await visit(site, { path: '/sign-in' }, async ({ page }) => {
      await page.getByRole('link', { name: 'Forgot your password?' }).click()
      await page.getByRole('heading', { level: 1, name: 'Reset your password' }).waitFor()
      await until(() => hasFocus(page.getByRole('textbox', { name: 'Email' })))
    })
  })

  it('stays in the field for the name of a group, which is empty for the next one', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      await untilKept(page)
      const groups = page.getByRole('region', { name: 'Groups' })
      await groups.getByRole('textbox', { name: 'New group' }).focus()
      for (const name of ['Friends', 'Family']) {
        await page.keyboard.type(name)
        await page.keyboard.press('Enter')
        await groups.getByRole('link', { name }).waitFor()
      }
    })
  })
})
