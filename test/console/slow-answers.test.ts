// Proves that a page whose answers are slower than the events shows them all the same, and says nothing false until they come.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()
const to = '+4915112345678'

/** Holds back the answers to an operation. */
async function holdBack(page: Page, operation: string) {
  const held = Promise.withResolvers<void>()
  let asked = 0
  await page.route('**/graphql', async (route) => {
    if (route.request().postData()?.includes(`${operation}(`)) {
      asked++
      await held.promise
    }
    await route.continue()
  })
  return { asked: () => asked, release: () => held.resolve() }
}

/** Holds back the first answer to an operation, which the gateway has given already. */
async function delay(page: Page, operation: string) {
  const [answered, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isFirst = true
  await page.route('**/graphql', async (route) => {
    if (!isFirst || !route.request().postData()?.includes(`${operation}(`)) return await route.continue()
    isFirst = false
    const response = await route.fetch()
    answered.resolve()
    await held.promise
    await route.fulfill({ response })
  })
  return { answered: answered.promise, release: () => held.resolve() }
}

describe.runIf(browserFound).concurrent('a slow answer', () => {
  it('is waited for while events ask for it anew, and then asked for once more', async () => {
    const who = await furnished(site)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const id = await sendText(who, to, { scheduledAt })
    await visit(site, { as: who.person }, async ({ page }) => {
      const { asked, release } = await holdBack(page, 'query MessageDeliveries')
      await page.goto(`/me/messages/${id}`)
      await until(() => asked() > 0)
      await who.person.api.graphql('mutation($id: ID!) { cancelMessage(id: $id) { id } }', { id })
      // The event that shows this has also asked for the deliveries.
      await page.getByRole('main').getByText('Cancelled').first().waitFor()
      expect(asked()).toBe(1)
      release()
      await page.getByText('It caused none so far.').waitFor()
      await until(() => asked() > 1)
    })
  })

  it('of the course of a campaign is not taken for a campaign that sent nothing', async () => {
    const { person, instance } = await furnished(site)
    const input = { name: 'News', instanceId: instance.id, type: 'text', text: 'Hello', recipients: [{ to }] }
    const made = await person.api.graphql('mutation($input: CreateCampaignInput!) { createCampaign(input: $input) { id } }', {
      input,
    })
    await visit(site, { as: person }, async ({ page }) => {
      const { asked, release } = await holdBack(page, 'query Course')
      await page.goto(`/me/campaigns/${made.body.data.createCampaign.id}`)
      await page.getByRole('heading', { level: 1, name: 'News' }).waitFor()
      await until(() => asked() > 0)
      const [sent, failed] = [page.getByText('Nothing has been sent yet.'), page.getByText('Nobody failed.')]
      expect([await sent.count(), await failed.count()]).toEqual([0, 0])
      release()
      await failed.waitFor()
    })
  })

  it('is said to be awaited by the part of the page that it fills', async () => {
    const { person } = await furnished(site)
    const contact = (await person.api.post('/api/contacts', { name: 'Ada', phone: to })).body.data.id
    const template = (await person.api.post('/api/templates', { name: 'Greeting', type: 'text', body: 'Hello' })).body.data.id
    for (const [path, operation, part] of [
      [`contacts/${contact}`, 'query Conversation', 'Conversation'],
      [`templates/${template}`, 'mutation PreviewTemplate', 'Preview'],
    ] as const) {
      await visit(site, { as: person }, async ({ page }) => {
        const { release } = await holdBack(page, operation)
        await page.goto(`/me/${path}`)
        const region = page.getByRole('region', { name: part })
        await region.and(page.locator('[aria-busy=true]')).waitFor()
        release()
        await region.and(page.locator('[aria-busy=false]')).waitFor()
      })
    }
  })

  it('to a form says nothing of what was changed since it was sent', async () => {
    const { person } = await furnished(site)
    const { id } = (await person.api.post('/api/contacts', { name: 'Ada', phone: to })).body.data
    await visit(site, { as: person, path: `/me/contacts/${id}` }, async ({ page }) => {
      const { release } = await holdBack(page, 'mutation UpdateContact')
      const form = page.getByRole('region', { name: 'Contact', exact: true })
      const save = form.getByRole('button', { name: 'Save' })
      await form.getByRole('textbox', { name: 'Name' }).fill('Ada Lovelace')
      await save.click()
      await form.getByRole('textbox', { name: 'Email' }).fill('ada@example.com')
      release()
      await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor()
      await until(() => save.isEnabled())
      expect(await form.getByText('Saved').count()).toBe(0)
      await save.click()
      await form.getByText('Saved').waitFor()
    })
  })

  it('to a form that sends says the status that the message has by then', async () => {
    const who = await furnished(site)
    await visit(site, { as: who.person, path: '/me/send' }, async ({ page }) => {
      await page.getByRole('textbox', { name: 'To', exact: true }).fill(to)
      await page.getByRole('textbox', { name: 'Text' }).fill('Hello')
      const { answered, release } = await delay(page, 'mutation SendMessage')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await answered
      const sent = async () =>
        (await who.person.api.graphql('{ messages { nodes { status } } }')).body.data.messages.nodes[0]?.status === 'read'
      await until(sent)
      release()
      await page.getByRole('status').filter({ hasText: 'Open the message' }).getByText('Read').waitFor()
    })
  })

  it('does not overwrite what events told while it was on its way', async () => {
    const who = await furnished(site)
    const id = await sendText(who, to, { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() })
    await visit(site, { as: who.person, path: '/me/live' }, async ({ page }) => {
      await page.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      const { answered, release } = await delay(page, 'query Messages')
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Messages' }).click()
      await answered
      await who.person.api.graphql('mutation($id: ID!) { cancelMessage(id: $id) { id } }', { id })
      // The event has come.
      await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
      release()
      await page.getByRole('table', { name: 'Messages' }).getByRole('row').getByText('Cancelled').waitFor()
    })
  })

  it('to a filter leaves the rows of the one before it, dimmed, and further rows dim none', async () => {
    const who = await furnished(site)
    await sql(site.databaseUrl).query(
      `insert into contacts (id, "workspaceId", name, phone, "updatedAt")
       select gen_random_uuid(), $1, 'Ada ' || n, '+49151200' || (10000 + n), now() from generate_series(1, 60) n`,
      [who.person.workspaceId],
    )
    await visit(site, { as: who.person, path: '/me/contacts' }, async ({ page }) => {
      const table = page.getByRole('table', { name: 'Contacts' })
      const rows = table.getByRole('link')
      const strength = () => table.locator('tbody').evaluate((body) => Number(getComputedStyle(body).opacity))
      await until(async () => (await rows.count()) === 50)
      const further = await holdBack(page, 'query Contacts')
      await page.getByRole('button', { name: 'Show more' }).click()
      await until(() => further.asked() > 0)
      expect([await table.getAttribute('aria-busy'), await strength()]).toEqual(['false', 1])
      further.release()
      await until(async () => (await rows.count()) === 60)
      const other = await holdBack(page, 'query Contacts')
      await page.getByRole('searchbox', { name: 'Search contacts' }).fill('Ada 7')
      await until(() => other.asked() > 0)
      await until(async () => (await strength()) < 1)
      expect(await table.getAttribute('aria-busy')).toBe('true')
      other.release()
      await until(async () => (await rows.count()) === 1)
      expect([await table.getAttribute('aria-busy'), await strength()]).toEqual(['false', 1])
    })
  })
})
