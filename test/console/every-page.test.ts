// Proves what holds on every page: names, landmarks, accessibility, no sideways scrolling, nothing from elsewhere.
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { command, commons, until } from '../kit/kit.ts'
import { violations } from './axe.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()
let who: Awaited<ReturnType<typeof furnished>>
let failed: string
let campaign: string

beforeAll(async () => {
  who = await furnished(site)
  await command(['account', 'operator', '--email', who.person.email], site)
  failed = await sendText(who, '+4915112340001')
  await sendText(who, '+4915112345678')
  await who.person.api.graphql('mutation { createSuppression(input: { phone: "+4915112345679" }) { phone } }')
  const news = { instanceId: who.instance.id, name: 'News', type: 'text', text: 'Hello' }
  const recipients = ['+4915112340001', '+4915112345678'].map((to) => ({ to }))
  campaign = (await who.person.api.post('/api/campaigns', { ...news, recipients })).body.data.id
  await who.person.api.graphql('mutation { createApiKey(input: { name: "The shop" }) { id } }')
})

const empty: [path: string, h1: string][] = [
  ['/me', 'Home'],
  ['/me/messages', 'Messages'],
  ['/me/instances', 'Instances'],
  ['/me/campaigns', 'Campaigns'],
  ['/me/campaigns/new', 'New campaign'],
  ['/me/contacts', 'Contacts'],
  ['/me/templates', 'Templates'],
  ['/me/suppressions', 'Do not contact'],
  ['/me/webhooks', 'Webhooks'],
  ['/me/keys', 'API keys'],
  ['/me/events', 'Events'],
  ['/me/usage', 'Usage'],
  ['/me/billing', 'Billing'],
]
const filled: [path: string, h1: string][] = [
  ['/me', 'Home'],
  ['/me/messages', 'Messages'],
  ['/me/messages/FAILED', 'Message'],
  ['/me/send', 'Send a message'],
  ['/me/live', 'Live'],
  ['/me/instances', 'Instances'],
  ['/me/campaigns', 'Campaigns'],
  ['/me/campaigns/new', 'New campaign'],
  ['/me/campaigns/CAMPAIGN', 'News'],
  ['/me/contacts', 'Contacts'],
  ['/me/templates', 'Templates'],
  ['/me/suppressions', 'Do not contact'],
  ['/me/webhooks', 'Webhooks'],
  ['/me/keys', 'API keys'],
  ['/me/events', 'Events'],
  ['/me/usage', 'Usage'],
  ['/me/billing', 'Billing'],
  ['/account', 'Account'],
  ['/operator', 'Operator'],
  ['/me/nothing', 'Not found'],
  ['/me/messages/01980000-0000-7000-8000-000000000009', 'Not found'],
  ['/me/campaigns/01980000-0000-7000-8000-000000000009', 'Not found'],
]
const open: [path: string, h1: string][] = [
  ['/sign-in', 'Sign in'],
  ['/sign-up', 'Create an account'],
  ['/reset-password', 'Reset your password'],
  ['/verify-email?token=x', 'Verify your e-mail address'],
]

async function settle(page: Page, path: string, h1: string): Promise<void> {
  await page.goto(path.replace('FAILED', failed).replace('CAMPAIGN', campaign))
  await page.getByRole('heading', { level: 1, name: h1, exact: true }).waitFor()
  await until(async () => (await page.getByText('Loading …').count()) === 0)
}

/** One reading of each page in one theme, at two widths. */
async function look(page: Page, pages: readonly (readonly [string, string])[]): Promise<string[]> {
  const found: string[] = []
  for (const [path, h1] of pages) {
    await settle(page, path, h1)
    for (const fault of await violations(page)) found.push(`${path}: ${fault}`)
    for (const width of [320, 390, 768, 1920]) {
      await page.setViewportSize({ width, height: 700 })
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      if (over > 0) found.push(`${path} is ${over} px too wide at ${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    if ((await page.locator('h1').count()) !== 1) found.push(`${path} has not one h1`)
    if ((await page.getByRole('main').count()) !== 1) found.push(`${path} has not one main`)
  }
  return found
}

/** Each test reads many pages at five widths. */
const manyPagesMs = 240_000

describe.runIf(browserFound).concurrent.each(['light', 'dark'] as const)('every page in the %s theme', (colorScheme) => {
  it(
    'has no violation of WCAG 2.2 AA and does not scroll sideways, filled',
    async () => {
      await visit(site, { as: who.person, colorScheme }, async ({ page }) => {
        expect(await look(page, filled)).toEqual([])
      })
    },
    manyPagesMs,
  )

  it(
    'has none before anything happened, and none for people who are not signed in',
    async () => {
      const { person } = await furnished(site)
      await visit(site, { as: person, colorScheme }, async ({ page }) => {
        expect(await look(page, empty)).toEqual([])
      })
      await visit(site, { colorScheme }, async ({ page }) => {
        expect(await look(page, open)).toEqual([])
      })
    },
    manyPagesMs,
  )
})

describe.runIf(browserFound)('the shell', () => {
  it('has its landmarks and names, and no violation with a menu, Find or the list of keys open', async () => {
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page }) => {
      const main = page.getByRole('navigation', { name: 'Main' })
      await main.waitFor()
      const pages = [
        'Home',
        'Messages',
        'Send',
        'Live',
        'Instances',
        'Campaigns',
        'Contacts',
        'Templates',
        'Do not contact',
        'Webhooks',
        'API keys',
        'Events',
        'Usage',
        'Billing',
      ]
      expect(await main.getByRole('link').allTextContents()).toEqual(pages)
      await page.getByRole('banner').getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      for (const open of ['Workspace', 'Account menu', 'Find', 'Keyboard shortcuts']) {
        await page.getByRole('button', { name: open, exact: true }).click()
        await page.locator('[role=menu]:popover-open, dialog[open]').waitFor()
        expect([open, await violations(page)]).toEqual([open, []])
        // A menu hangs below its button.
        const tops = await page
          .locator('[role=menu]:popover-open')
          .evaluateAll((all) => all.map((menu) => menu.getBoundingClientRect().top))
        expect(tops.filter((top) => top < 36)).toEqual([])
        await page.keyboard.press('Escape')
        await until(async () => (await page.locator('[role=menu]:popover-open, dialog[open]').count()) === 0)
      }
    })
  })

  it('leads to every page from a narrow screen', async () => {
    await visit(site, { as: who.person, path: '/me', viewport: { width: 320, height: 640 } }, async ({ page }) => {
      const main = page.getByRole('navigation', { name: 'Main' })
      await main.getByRole('button', { name: 'More pages' }).click()
      expect(await violations(page)).toEqual([])
      await main.getByRole('link', { name: 'Usage' }).click()
      await page.waitForURL('**/me/usage')
      await until(async () => !(await main.getByRole('link', { name: 'Usage' }).isVisible()))
    })
  })

  it('finds pages by their names, and a message by its pasted id', async () => {
    await visit(site, { as: who.person, path: '/me' }, async ({ page }) => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Find' }).getByRole('textbox', { name: 'Find' }).fill('sen')
      await page.keyboard.press('Enter')
      await page.waitForURL('**/me/send')
      await page.getByRole('heading', { level: 1, name: 'Send a message' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('textbox', { name: 'Find' }).fill(failed)
      await page.keyboard.press('Enter')
      await page.getByText('The number is not on the network.').waitFor()
    })
  })

  it('speaks Brazilian Portuguese to browsers that do, and shows every time in the chosen zone', async () => {
    await visit(
      site,
      { as: who.person, path: '/me/messages', locale: 'pt-BR', timezoneId: 'Asia/Kathmandu' },
      async ({ page }) => {
        await page.getByRole('heading', { level: 1, name: 'Mensagens' }).waitFor()
        expect(await page.locator('html').getAttribute('lang')).toBe('pt-BR')
        const time = page.getByRole('table').locator('time').first()
        const at = new Date((await time.getAttribute('datetime')) as string)
        const shown = (timeZone: string) => at.toLocaleTimeString('pt-BR', { timeZone, hourCycle: 'h23' })
        expect(await time.textContent()).toContain(shown('Asia/Kathmandu').slice(0, 5))
        await page.goto('/account')
        // A chosen zone loads the page again.
        await Promise.all([page.waitForEvent('load'), page.getByRole('combobox', { name: 'Fuso horário' }).selectOption('UTC')])
        await page.goto('/me/messages')
        expect(await page.getByRole('table').locator('time').first().textContent()).toContain(shown('UTC').slice(0, 5))
      },
    )
  })
})
