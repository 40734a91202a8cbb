// Proves that the page of a message shows the call that made it, and leads to the form that sends it again.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound).concurrent('a message', () => {
  it('with a file shows its caption in the same call', async () => {
    const who = await furnished(site)
    const file = { type: 'document', mediaUrl: 'https://example.com/bill.pdf', text: 'Your bill' }
    const id = await sendText(who, '+4915112345678', { ...file, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() })
    await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
      expect(await callOn(page)).toEqual({ instanceId: who.instance.id, to: '+4915112345678', ...file })
    })
  })

  it('of each type shows its call, and fills the form that sends it again', async () => {
    const who = await furnished(site)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const buttons = [{ type: 'reply', displayText: 'Yes', id: 'yes' }]
    const place = { type: 'location', latitude: 52.5, longitude: 13.4, locationName: 'The gate', locationAddress: 'Main square' }
    const question = { type: 'buttons', title: 'A date', description: 'Friday?', footer: 'Bye', buttons }
    for (const [fields, shown] of [
      [place, { Latitude: '52.5', Longitude: '13.4', 'Name of the place': 'The gate', Address: 'Main square' }],
      [question, { Title: 'A date', Description: 'Friday?', Footer: 'Bye', Buttons: 'Yes' }],
    ] as const) {
      const id = await sendText(who, '+4915112345678', { ...fields, scheduledAt, text: undefined })
      await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
        expect(await callOn(page)).toEqual({ instanceId: who.instance.id, to: '+4915112345678', ...fields })
        await page.getByRole('button', { name: 'Send again' }).click()
        expect(await page.getByRole('combobox', { name: 'Type' }).inputValue()).toBe(fields.type)
        for (const [field, value] of Object.entries(shown)) {
          expect(await page.getByRole('textbox', { name: new RegExp(`^${field}`) }).inputValue()).toBe(value)
        }
      })
    }
  })
})

/** The body of the request that the page shows as curl. */
async function callOn(page: Page): Promise<unknown> {
  const curl = (await page.getByRole('region', { name: 'curl' }).textContent()) as string
  const [, body = ''] = curl.match(/-d '(.*)'$/s) ?? []
  return JSON.parse(body)
}

it.runIf(browserFound)('its code is copied also where the browser forbids the clipboard API', async () => {
  const { person } = await furnished(site)
  await visit(site, { as: person }, async ({ page }) => {
    await page.addInitScript(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException('forbidden', 'NotAllowedError'))
    })
    await page.goto('/me/send')
    const text = page.getByRole('textbox', { name: 'Text', exact: true })
    await text.fill('Hello')
    await page.getByRole('button', { name: 'Show as code' }).click()
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Copied').waitFor()
    await text.focus()
    await text.press('Control+a')
    await text.press('Control+v')
    expect(await text.inputValue()).toContain(`curl ${site.url}/api/v1/messages/send`)
  })
})
