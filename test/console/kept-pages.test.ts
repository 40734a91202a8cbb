// Proves that what a page shows, and what is typed on it, stays while the gateway is away, and that what is missing comes when it is back.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

/** Breaks the connection of each request with that operation, until the returned function is called. */
async function breakOff(page: Page, operation: string): Promise<() => void> {
  let isAway = true
  await page.route('**/graphql', async (route) => {
    if (isAway && route.request().postData()?.includes(`${operation}(`)) await route.abort('connectionreset')
    else await route.fallback()
  })
  return () => {
    isAway = false
  }
}

describe.runIf(browserFound).concurrent('while the gateway is away', () => {
  it('a page that is read again and again keeps its records and the dialog that is open', async () => {
    const { person } = await furnished(site)
    const input = { url: 'http://127.0.0.1:9/hook', events: ['message_received'] }
    const create = 'mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }'
    const { id } = (await person.api.graphql(create, { input })).body.data.createWebhook
    await person.api.graphql(`mutation { testWebhook(id: "${id}") { id } }`)
    await visit(site, { as: person, path: `/me/webhooks/${id}` }, async ({ page, context, expected }) => {
      expected.push(/ERR_INTERNET_DISCONNECTED/)
      const deliveries = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr')
      await deliveries.first().waitFor()
      await page.getByRole('button', { name: 'Edit' }).click()
      const url = page.getByRole('dialog').getByRole('textbox', { name: 'URL' })
      await url.fill('https://example.com/other')
      await context.setOffline(true)
      await page.getByText('The gateway cannot be reached.').first().waitFor()
      expect([await url.inputValue(), await deliveries.count()]).toEqual(['https://example.com/other', 1])
      await context.setOffline(false)
      await page.getByText('The gateway cannot be reached.').first().waitFor({ state: 'detached' })
      expect([await url.inputValue(), await deliveries.count()]).toEqual(['https://example.com/other', 1])
    })
  })

  it('a list keeps its rows when more of them are asked for', async () => {
    const { person } = await furnished(site)
    const numbers = Array.from({ length: 51 }, (_, n) => `+49151${20_000_000 + n}`)
    for (const phone of numbers) {
      await person.api.graphql('mutation($phone: String!) { createSuppression(input: { phone: $phone }) { phone } }', { phone })
    }
    await visit(site, { as: person, path: '/me/suppressions' }, async ({ page, context, expected }) => {
      expected.push(/ERR_INTERNET_DISCONNECTED/)
      const rows = page.getByRole('table', { name: 'Numbers' }).locator('tbody tr')
      const more = page.getByRole('button', { name: 'Show more' })
      await more.waitFor()
      // The answer to this request tells that the list was read again.
      const asked = () =>
        page.waitForEvent('requestfailed', (request) => request.postData()?.includes('query Suppressions') === true)
      await context.setOffline(true)
      await Promise.all([asked(), more.click()])
      await asked()
      await asked()
      expect(await rows.count()).toBe(50)
      await context.setOffline(false)
      await page.getByText('The gateway cannot be reached.').first().waitFor({ state: 'detached' })
      await more.click()
      await rows.nth(50).waitFor()
    })
  })

  it('a page of messages says that a cancellation did not arrive, and keeps what is selected', async () => {
    const who = await furnished(site)
    await sendText(who, '+4915112345678', { scheduledAt: new Date(Date.now() + 86_400_000).toISOString() })
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      const back = await breakOff(page, 'mutation CancelMessage')
      const box = page.getByRole('checkbox', { name: /^Select/ })
      await box.click()
      await page.getByRole('button', { name: 'Cancel selected' }).click()
      await page.getByText('The gateway cannot be reached.').waitFor()
      expect(await box.isChecked()).toBe(true)
      back()
      await page.getByRole('button', { name: 'Cancel selected' }).click()
      await page.getByRole('row').getByText('Cancelled').waitFor()
    })
  })

  it('an export says that the gateway cannot be reached', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      await page.route('**/export.csv**', (route) => route.abort('connectionreset'))
      await page.getByRole('button', { name: 'Export CSV' }).click()
      await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor()
    })
  })
})

describe.runIf(browserFound).concurrent('once the gateway is back', () => {
  it.each([
    ['the preview of a template', 'mutation PreviewTemplate', (id: string) => `templates/${id}`],
    ['the fields of a template in a message', 'mutation FillTemplate', () => 'send?type=template'],
  ])('%s is there', async (_, operation, path) => {
    const { person } = await furnished(site)
    const template = { name: 'Greeting', type: 'text', body: 'Hello {{ custom.word }}' }
    const { id } = (await person.api.post('/api/templates', template)).body.data
    await visit(site, { as: person }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      const back = await breakOff(page, operation)
      await page.goto(`/me/${path(id)}`)
      await page.getByText('The gateway cannot be reached.').first().waitFor()
      back()
      await page.getByRole('textbox', { name: 'word' }).fill('world')
      await page.getByRole('region', { name: 'Preview' }).getByText('Hello world').waitFor()
      expect(await page.getByText('The gateway cannot be reached.').count()).toBe(0)
    })
  })

  it('the form of a campaign says what will happen, and who failed in the one before', async () => {
    const { person, instance } = await furnished(site)
    const input = { name: 'News', instanceId: instance.id, type: 'text', text: 'Hello', recipients: [{ to: '+4915112340001' }] }
    const { id } = (await person.api.post('/api/campaigns', input)).body.data
    const failures = async () =>
      (await person.api.graphql(`{ campaign(id: "${id}") { failures { count } } }`)).body.data.campaign.failures
    await until(async () => (await failures()).length === 1)
    await visit(site, { as: person }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      const lost = page.getByText('The gateway cannot be reached.')
      await page.route('**/recipients.csv', (route) => route.abort('connectionreset'))
      await page.goto(`/me/campaigns/new?again=${id}`)
      await lost.waitFor()
      const back = await breakOff(page, 'PreviewCampaign')
      await page.unroute('**/recipients.csv')
      await page.getByRole('textbox', { name: 'Recipients' }).and(page.locator(':text-is("+4915112340001")')).waitFor()
      await lost.waitFor()
      back()
      await page.getByRole('region', { name: 'Before it starts' }).getByText('Distinct numbers').waitFor()
      expect(await lost.count()).toBe(0)
    })
  })

  it('a page whose request got no answer is read again after a minute', async () => {
    const { person } = await furnished(site)
    await person.api.post('/api/templates', { name: 'Greeting', type: 'text', body: 'Hello' })
    await visit(site, { as: person }, async ({ page, expected }) => {
      expected.push(/ERR_ABORTED/)
      await page.clock.install()
      const { promise: asked, resolve } = Promise.withResolvers<void>()
      let questions = 0
      await page.route('**/graphql', async (route) => {
        if (!route.request().postData()?.includes('query Templates')) return await route.continue()
        if (++questions > 1) await route.continue()
        else resolve()
      })
      await page.goto('/me/templates')
      await asked
      await page.clock.fastForward('01:01')
      await page.getByText('The gateway cannot be reached.').waitFor()
      await page.clock.fastForward('00:02')
      await page.getByRole('link', { name: 'Greeting' }).waitFor()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })
  })
})
