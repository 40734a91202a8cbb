// Proves that the keyboard alone does everything: from the sign-in to a message that was sent, its page, and a webhook that is delivered again.
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { password } from '../accounts/person.ts'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { openReceiver } from './receiver.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

/** Moves the focus on to the next element with that name. @throws after a whole round. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let n = 0; n < 100; n++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null
      const outline = element && getComputedStyle(element).outlineStyle
      const label = element?.labels?.[0]?.textContent ?? element?.ariaLabel ?? element?.textContent
      return { name: label?.trim(), seen: outline !== 'none' }
    })
    if (focused.name !== name) continue
    // A reader sees where the focus is.
    expect(focused).toEqual({ name, seen: true })
    return
  }
  throw new Error(`The focus never came to ${name}`)
}

it.runIf(browserFound)('signs in, sends, opens the message and redelivers its webhook by keys', async () => {
  const { person } = await furnished(site)
  const receiver = await openReceiver()
  const input = { url: receiver.url, events: ['message_sent'] }
  await person.api.graphql('mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }', { input })
  await visit(site, { path: '/sign-in' }, async ({ page }) => {
    const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    await heading('Sign in')
    await page.keyboard.type(person.email)
    await tabTo(page, 'Password')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await heading('Home')
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await heading('Send a message')
    await tabTo(page, 'To')
    await page.keyboard.type('+4915112345678')
    await tabTo(page, 'Text')
    await page.keyboard.type('By keys')
    await tabTo(page, 'Send')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Open the message' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: 'Find' }).waitFor()
    await page.keyboard.type('Messages')
    await page.keyboard.press('Enter')
    await heading('Messages')
    await page.getByRole('row').filter({ hasText: 'By keys' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    expect(await page.getByRole('checkbox', { name: /^Select/ }).isChecked()).toBe(true)
    await page.keyboard.press('Enter')
    await heading('Message')
    await page.getByRole('region', { name: 'Webhook deliveries' }).getByText('500').waitFor()
    await tabTo(page, 'Message sent')
    await page.keyboard.press('Enter')
    await heading('Message sent')
    receiver.status = 204
    await tabTo(page, 'Redeliver')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Delivery', exact: true }).getByText('Delivered').waitFor()
  })
})

it.runIf(browserFound)('leaves the keys of an input method to it in Find and where contacts are searched', async () => {
  const { person } = await furnished(site)
  await person.api.post('/api/contacts', { name: '田中花子', phone: '+4915112345678' })
  const enter = (element: HTMLElement | SVGElement, isComposing: boolean) =>
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing, bubbles: true, cancelable: true }))
  await visit(site, { as: person, path: '/me/send' }, async ({ page }) => {
    const to = page.getByRole('textbox', { name: 'To', exact: true })
    await to.fill('田')
    await page.getByRole('option', { name: '田中花子' }).waitFor()
    await to.press('ArrowDown')
    await to.evaluate(enter, true)
    expect(await to.inputValue()).toBe('田')
    await to.evaluate(enter, false)
    await until(async () => (await to.inputValue()) === '+4915112345678')
    await page.keyboard.press('Control+k')
    const find = page.getByRole('textbox', { name: 'Find' })
    await find.fill('田中花子')
    await page.getByRole('option', { name: '田中花子' }).waitFor()
    await find.evaluate(enter, true)
    expect(await find.isVisible()).toBe(true)
    await find.evaluate(enter, false)
    await page.getByRole('heading', { level: 1, name: '田中花子' }).waitFor()
  })
})

it.runIf(browserFound)('keeps in sight what the arrow keys mark in Find', async () => {
  const { person } = await furnished(site)
  await visit(site, { as: person, path: '/me' }, async ({ page }) => {
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: 'Find' }).waitFor()
    await page.keyboard.press('ArrowUp')
    const isSeen = () =>
      page.getByRole('option', { name: 'Sign out', selected: true }).evaluate((option) => {
        const [list, { top, bottom }] = [option.parentElement as HTMLElement, option.getBoundingClientRect()]
        const room = list.getBoundingClientRect()
        return list.scrollHeight > list.clientHeight && top >= room.top && bottom <= room.bottom
      })
    await until(isSeen)
  })
})
