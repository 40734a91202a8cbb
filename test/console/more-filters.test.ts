// Proves that messages are filtered by several statuses, dates, campaign, contact, reason and text, by an address that says all of it.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()
const rows = (page: Page) => page.getByRole('table', { name: 'Messages' }).getByRole('row')

describe.runIf(browserFound)('the further filters of messages', () => {
  it('stand in the address as chips, survive a reload, count for the export, and are removed one by one', async () => {
    const who = await furnished(site)
    const failed = await sendText(who, '+4915112340001', { text: 'Offer of Monday' })
    await sendText(who, '+4915112345678', { text: 'Offer of Tuesday' })
    const later = new Date(Date.now() + 3_600_000).toISOString()
    await sendText(who, '+4915112345679', { text: 'Another one', scheduledAt: later })
    const statusOf = async (id: string) =>
      (await who.person.api.graphql(`{ message(id: "${id}") { status } }`)).body.data.message.status
    await until(async () => (await statusOf(failed)) === 'failed')
    await visit(site, { as: who.person, path: '/me/messages', timezoneId: 'Asia/Kathmandu' }, async ({ page }) => {
      await until(async () => (await rows(page).count()) === 4)
      await page.getByRole('button', { name: 'More filters' }).click()
      const dialog = page.getByRole('dialog', { name: 'More filters' })
      for (const name of ['Queued', 'Failed']) await dialog.getByRole('checkbox', { name }).check()
      await dialog.getByLabel(/^From \(/).fill('2026-01-02T03:04')
      expect(await faultsOf(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Show messages' }).click()
      await until(async () => (await rows(page).count()) === 3)
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
        status: 'queued,failed',
        from: '2026-01-01T21:19:00.000Z',
      })
      const chips = page.getByRole('list', { name: 'Chosen filters' })
      await page.reload()
      await chips.getByRole('button', { name: 'Remove filter Status: Queued, Failed' }).waitFor()
      await until(async () => (await rows(page).count()) === 3)

      await page.getByRole('button', { name: 'More filters' }).click()
      await dialog.getByRole('textbox', { name: 'Text' }).fill('offer')
      await dialog.getByRole('combobox', { name: 'Reason of failure' }).selectOption('The number is not on the network.')
      await dialog.getByRole('button', { name: 'Show messages' }).click()
      await until(async () => (await rows(page).count()) === 2)
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()])
      const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
      expect(lines.length).toBe(2)
      expect(lines[1]).toContain(failed)
      expect(await faultsOf(page)).toEqual([])
      await chips.getByRole('button', { name: /^Remove filter Reason of failure/ }).click()
      await chips.getByRole('button', { name: /^Remove filter Status/ }).click()
      await until(async () => (await rows(page).count()) === 3)
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await until(async () => (await rows(page).count()) === 4)
    })
  })

  it('lead from Home to all messages that failed today', async () => {
    const who = await furnished(site)
    for (const to of ['+4915112345678', ...Array(6).fill('+4915112340001')]) await sendText(who, to)
    await sendText(who, '+4915112345678', { scheduledAt: new Date(Date.now() + 86_400_000).toISOString() })
    await visit(site, { as: who.person, path: '/me' }, async ({ page }) => {
      const today = page.getByRole('region', { name: 'Today' })
      await today.getByText('Failed6Sent1Delivered1Read1Received0').waitFor()
      await today.getByRole('link', { name: 'Show all 6' }).click()
      await page.getByRole('button', { name: 'Remove filter From' }).waitFor()
      await until(async () => (await rows(page).count()) === 7)
      expect(new URL(page.url()).searchParams.get('status')).toBe('failed')
    })
  })

  it('lead from a contact to its messages, and count a new one only if it fits', async () => {
    const who = await furnished(site)
    const { body } = await who.person.api.post('/api/contacts', { name: 'Grace', phone: '+4915112345678' })
    await sendText(who, '+4915112345678')
    await sendText(who, '+4915112345679')
    await visit(site, { as: who.person, path: `/me/contacts/${body.data.id}` }, async ({ page }) => {
      await page.getByRole('main').getByRole('link', { name: 'Messages' }).click()
      await page.getByRole('button', { name: 'Remove filter Contact: Grace' }).waitFor()
      await until(async () => (await rows(page).count()) === 2)
      await sendText(who, '+4915112345679')
      await sendText(who, '+4915112345678')
      await page.getByRole('button', { name: 'Show 1 new', exact: true }).click()
      await until(async () => (await rows(page).count()) === 3)
      await page.getByRole('button', { name: 'Remove filter Contact: Grace' }).click()
      await until(async () => (await rows(page).count()) === 5)
      await page.getByRole('button', { name: 'More filters' }).click()
      const dialog = page.getByRole('dialog', { name: 'More filters' })
      await dialog.getByRole('searchbox', { name: 'Contact' }).fill('gra')
      await dialog.getByRole('listbox', { name: 'Contacts found' }).getByRole('option', { name: 'Grace' }).click()
      await dialog.getByRole('button', { name: 'Show messages' }).click()
      await page.getByRole('button', { name: 'Remove filter Contact: Grace' }).waitFor()
      await until(async () => (await rows(page).count()) === 3)
    })
  })
})
