// Proves that an answer which comes after its dialog was closed changes nothing of what the reader does by then.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

/** Holds back the answer to a mutation that the gateway has carried out. `given` resolves once the page has it. */
async function holdBack(page: Page, mutation: string) {
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const given = page.waitForEvent('requestfinished', (request) => request.postData()?.includes(`mutation ${mutation}(`) === true)
  await page.route('**/graphql', async (route) => {
    if (!route.request().postData()?.includes(`mutation ${mutation}(`)) return await route.continue()
    const response = await route.fetch()
    asked.resolve()
    await held.promise
    await route.fulfill({ response })
  })
  const release = async () => {
    held.resolve()
    await (await given).response().then((response) => response?.finished())
    // The page shows the effects of the answer by the second frame.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  }
  return { asked: asked.promise, release }
}

describe.runIf(browserFound).concurrent('a late answer', () => {
  it.each([
    ['to a question', 'PauseCampaign', 'Pause', (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Pause' })],
    ['to a form', 'UpdateCampaign', 'Edit', (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Save' })],
  ])('%s closes no other dialog', async (_, mutation, open, submit) => {
    const { person, instance } = await furnished(site)
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    const message = { instanceId: instance.id, type: 'text', text: 'Hello', recipients: [{ to: '+4915112345671' }] }
    const { id } = (await person.api.post('/api/campaigns', { ...message, name: 'News', scheduledAt })).body.data
    await visit(site, { as: person, path: `/me/campaigns/${id}` }, async ({ page }) => {
      const { asked, release } = await holdBack(page, mutation)
      await page.getByRole('button', { name: open, exact: true }).click()
      await submit(page).click()
      await asked
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' })
      await name.fill('Old news')
      await release()
      await until(() => page.getByRole('dialog').getByRole('button', { name: 'Save' }).isEnabled())
      expect(await name.inputValue()).toBe('Old news')
    })
  })

  it('to a form that was closed leads nobody away from another page', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      const { asked, release } = await holdBack(page, 'CreateContact')
      await page.getByRole('button', { name: 'New contact' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Ada')
      await page.getByRole('dialog').getByRole('textbox', { name: 'Number' }).fill('+4915112345678')
      await page.getByRole('button', { name: 'Create contact' }).click()
      await asked
      await page.keyboard.press('Escape')
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Live' }).click()
      await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
      await release()
      await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/me/live')
    })
  })
})
