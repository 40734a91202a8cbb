// Proves that the page of a message shows the call that made it, and leads to the form that sends it again.
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
      const curl = (await page.getByRole('region', { name: 'curl' }).textContent()) as string
      const [, body = ''] = curl.match(/-d '(.*)'$/s) ?? []
      expect(JSON.parse(body)).toEqual({ instanceId: who.instance.id, to: '+4915112345678', ...file })
    })
  })

  it('of each type is sent again from a form, and shows no call that would be refused', async () => {
    const who = await furnished(site)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const buttons = [{ type: 'reply', id: 'yes', displayText: 'Yes' }]
    const place = { type: 'location', latitude: 52.5, longitude: 13.4, locationName: 'The gate', text: undefined }
    const question = { type: 'buttons', description: 'Friday?', buttons, text: undefined }
    for (const [input, field, value] of [
      [place, 'Name of the place', 'The gate'],
      [question, 'Description', 'Friday?'],
    ] as const) {
      const id = await sendText(who, '+4915112345678', { ...input, scheduledAt })
      await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
        const again = page.getByRole('button', { name: 'Send again' })
        await again.waitFor()
        expect(await page.getByRole('tab', { name: 'curl' }).count()).toBe(0)
        await again.click()
        expect(await page.getByRole('combobox', { name: 'Type' }).inputValue()).toBe(input.type)
        expect(await page.getByRole('textbox', { name: field, exact: true }).inputValue()).toBe(value)
      })
    }
  })
})
