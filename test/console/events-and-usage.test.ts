// Proves that the pages of events and usage show what happened, newest first, and what arrives meanwhile on demand.
import { describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

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
    // Each is sent, delivered and read.
    for (let n = 0; n < 17; n++) await sendText(who, `+49151123456${10 + n}`)
    const logged = '{ events(last: 100) { nodes { id } } }'
    await until(async () => (await who.person.api.graphql(logged)).body.data.events.nodes.length === 51)
    await visit(site, { as: who.person, path: '/me/events' }, async ({ page }) => {
      const rows = page.getByRole('table', { name: 'Events' }).getByRole('row')
      await page.getByText('Show older').click()
      await page.waitForURL('**/me/events?before=*')
      await until(async () => (await rows.count()) === 2)
      await page.goBack()
      await page.waitForURL('**/me/events')
      await until(async () => (await rows.count()) === 51)
    })
  })

  it('shows what the period used of the plan, and the messages and requests of today', async () => {
    const who = await furnished(site)
    await connectedInstance(site.databaseUrl, who.person, { name: 'Other phone' })
    await sendText(who, '+4915112345678')
    const today = async () => (await who.person.api.graphql('{ usage { days(last: 1) { sent } } }')).body.data.usage.days[0]?.sent
    await until(async () => (await today()) === 1)
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
})
