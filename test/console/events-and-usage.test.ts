// Proves that the pages of events and usage show what happened, newest first, and what arrives meanwhile on demand.
import { describe, expect, it } from 'vitest'
import { everyType } from '../../src/console/web/graph/event-types.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

/** Makes 52 events, of which a page shows 50: each of 13 messages is queued, sent, delivered and read. */
async function logSome(who: Awaited<ReturnType<typeof furnished>>): Promise<void> {
  for (let n = 0; n < 13; n++) await sendText(who, `+49151123456${10 + n}`)
  const logged = 'query($types: [EventType!]) { events(last: 100, types: $types) { nodes { id } } }'
  const events = async () => (await who.person.api.graphql(logged, { types: everyType })).body.data.events.nodes
  await until(async () => (await events()).length === 52)
}

/** A person with two instances, of which one has sent a message that the counts of today have. */
async function withTwoPhones() {
  const who = await furnished(site)
  await connectedInstance(site.databaseUrl, who.person, { name: 'Other phone' })
  await sendText(who, '+4915112345678')
  const today = async () => (await who.person.api.graphql('{ usage { days(last: 1) { sent } } }')).body.data.usage.days[0]?.sent
  await until(async () => (await today()) === 1)
  return who
}

describe.runIf(browserFound)('events and usage', () => {
  it('lists the events with their content, by type, and those that arrive meanwhile on demand', async () => {
    const who = await furnished(site)
    await visit(site, { as: who.person, path: '/me/events' }, async ({ page }) => {
      const live = page.getByRole('banner').getByRole('status', { name: 'Live' }).getByText('Live', { exact: true })
      await live.waitFor()
      const id = await sendText(who, '+4915112340001')
      const fresh = page.getByRole('button', { name: /^Show \d+ new$/ })
      await fresh.waitFor()
      await until(
        async () => (await who.person.api.graphql(`{ message(id: "${id}") { status } }`)).body.data.message.status === 'failed',
      )
      await page.getByRole('combobox', { name: 'Type' }).selectOption('Message failed')
      await page.waitForURL('**type=message_failed')
      const rows = page.getByRole('table', { name: 'Events' }).getByRole('row')
      await rows.nth(1).waitFor()
      expect(await rows.count()).toBe(2)
      await rows.nth(1).getByText('Show').click()
      expect(await rows.nth(1).getByRole('region').textContent()).toContain(id)
      await rows.nth(1).getByRole('link', { name: '+4915112340001' }).click()
      await page.getByRole('heading', { level: 1, name: 'Message' }).waitFor()
    })
  })

  it('leads from older events back to the newer ones by the history of the browser', async () => {
    const who = await furnished(site)
    await logSome(who)
    await visit(site, { as: who.person, path: '/me/events' }, async ({ page }) => {
      const rows = page.getByRole('table', { name: 'Events' }).getByRole('row')
      await page.getByText('Show older').click()
      await page.waitForURL('**/me/events?before=*')
      await until(async () => (await rows.count()) === 3)
      await page.goBack()
      await page.waitForURL('**/me/events')
      await until(async () => (await rows.count()) === 51)
    })
  })

  it('shows what the period used of the plan, and the messages and requests of today', async () => {
    const who = await withTwoPhones()
    for (const _ of [1, 2]) await api(site, who.person.apiKey).get('instances')
    const made = async () => (await who.person.api.graphql('{ usage { days(last: 2) { requests } } }')).body.data.usage.days
    await until(async () => (await made()).some(({ requests }: { requests: number }) => requests === 2))
    await visit(site, { as: who.person, path: '/me/usage' }, async ({ page }) => {
      const messages = page.getByRole('meter', { name: 'Messages' })
      await messages.waitFor()
      expect(await messages.getAttribute('aria-valuenow')).toBe('1')
      for (const name of ['API requests', 'Media']) expect(await page.getByRole('meter', { name }).count()).toBe(1)
      const newest = page.getByRole('table', { name: 'Messages by day' }).getByRole('row').nth(1)
      const shows = (sent: string) => until(async () => (await newest.getByRole('cell').nth(1).textContent()) === sent)
      await shows('1')
      expect(await newest.getByRole('cell').nth(6).textContent()).toBe('2')
      // The page follows the counts.
      await api(site, who.person.apiKey).get('instances')
      await until(async () => (await newest.getByRole('cell').nth(6).textContent()) === '3')
      for (const name of ['Sent messages by day', 'API requests by day']) await page.getByRole('img', { name }).waitFor()
      const choice = page.getByRole('combobox', { name: 'Instance' })
      await choice.selectOption('Other phone')
      await shows('0')
      // Requests are not those of one instance.
      expect(await page.getByRole('img', { name: 'API requests by day' }).count()).toBe(0)
      await choice.selectOption('Shop phone')
      await shows('1')
      expect(new URL(page.url()).searchParams.get('instance')).toBe(who.instance.id)
    })
  })

  it('shows events of every type, and announces none as new that the list has', async () => {
    const who = await furnished(site)
    await logSome(who)
    await visit(site, { as: who.person, path: '/me/events' }, async ({ page }) => {
      const newest = page.getByRole('table', { name: 'Events' }).getByRole('row').nth(1)
      await page.getByRole('banner').getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      await page.getByText('Show older').waitFor()
      const later = new Date(Date.now() + 3_600_000).toISOString()
      await sendText(who, '+4915112340009', { scheduledAt: later })
      const fresh = page.getByRole('button', { name: 'Show 1 new' })
      await fresh.waitFor()
      await page.getByText('Show older').click()
      await page.waitForURL('**/me/events?before=*')
      await fresh.waitFor()
      await page.goBack()
      await newest.getByRole('link', { name: '+4915112340009' }).waitFor()
      await fresh.waitFor({ state: 'detached' })
      await sendText(who, '+4915112340008', { scheduledAt: later })
      await fresh.click()
      await newest.getByRole('link', { name: '+4915112340008' }).waitFor()
      await fresh.waitFor({ state: 'detached' })
    })
  })

  it('shows no counts of one instance as those of another', async () => {
    const who = await withTwoPhones()
    await visit(site, { as: who.person, path: `/me/usage?instance=${who.instance.id}` }, async ({ page }) => {
      const rows = page.getByRole('table', { name: 'Messages by day' }).locator('tbody tr')
      await rows.first().waitFor()
      const held = Promise.withResolvers<void>()
      await page.route('**/graphql', async (route) => {
        if (route.request().postData()?.includes('query UsageOfInstance')) await held.promise
        await route.continue()
      })
      await page.getByRole('combobox', { name: 'Instance' }).selectOption('Other phone')
      await rows.first().waitFor({ state: 'detached' })
      held.resolve()
      await until(async () => (await rows.first().getByRole('cell').nth(1).textContent()) === '0')
    })
  })
})
