// Proves the shell: its landmarks and names, its menus, Find, the keys, and the zone and language of the reader.
import { beforeAll, describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { violations } from './axe.ts'
import { faultsOf } from './look.ts'
import { openReceiver } from './receiver.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'
import { shiftsSoFar, watchShifts } from './shifts.ts'

const site = commons()
let who: Awaited<ReturnType<typeof furnished>>
let failed: string

beforeAll(async () => {
  who = await furnished(site)
  failed = await sendText(who, '+4915112340001')
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
        // The keyboard goes on where it was.
        expect([open, await page.evaluate(() => document.activeElement?.ariaLabel)]).toEqual([open, open])
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

  it('warns on every page of what stops messages, and moves nothing', async () => {
    const { person, instance } = await furnished(site)
    const set = (text: string) => sql(site.databaseUrl).query(text, [person.userId])
    await set(`insert into usage ("userId", period, "messagesCount")
      values ($1, date_trunc('month', now() at time zone 'utc')::date, 5000000)`)
    await set(`update subscriptions set status = 'past_due' where "userId" = $1`)
    const receiver = await openReceiver()
    receiver.status = 410
    const input = { url: receiver.url, events: ['instance_connected'] }
    const made = await person.api.graphql('mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }', {
      input,
    })
    const { id } = made.body.data.createWebhook
    await person.api.graphql(`mutation { testWebhook(id: "${id}") { id } }`)
    const read = async () => (await person.api.graphql(`{ webhook(id: "${id}") { disabledReason } }`)).body.data.webhook
    await until(async () => (await read()).disabledReason === 'gone')
    await visit(site, { as: person, path: '/me/messages' }, async ({ page }) => {
      await page.addInitScript(watchShifts)
      await page.reload()
      const warnings = page.getByRole('region', { name: 'Warnings' })
      await warnings.getByRole('button', { name: '2 more' }).waitFor()
      // It comes while one looks.
      await person.api.graphql(`mutation { logoutInstance(id: "${instance.id}") { status } }`)
      await warnings.getByRole('button', { name: '3 more' }).waitFor()
      expect(await page.evaluate(shiftsSoFar)).toEqual([])
      await warnings.getByRole('button', { name: '3 more' }).click()
      expect(await warnings.getByRole('link').allTextContents()).toEqual([
        'The last payment failed. Everything works until the subscription is cancelled.',
        'The messages of this month are used up: no more are accepted.',
        'Shop phone is logged out: its messages wait until it is paired again.',
        `The webhook endpoint at ${new URL(receiver.url).host} is disabled: it gets no events.`,
      ])
      expect(await faultsOf(page)).toEqual([])
      await warnings.getByRole('link', { name: 'Shop phone' }).click()
      await page.getByRole('heading', { level: 1, name: 'Shop phone' }).waitFor()
      await warnings.getByRole('button', { name: 'Hide the warnings' }).click()
      await until(async () => (await warnings.count()) === 0)
    })
  })

  it('warns of an inactive subscription, and of API requests that are nearly or wholly used up', async () => {
    const { person } = await furnished(site)
    const { body } = await person.api.graphql('{ usage { plan { limits { monthlyApiRequestQuota } } } }')
    const quota: number = body.data.usage.plan.limits.monthlyApiRequestQuota
    const use = (share: number) =>
      sql(site.databaseUrl).query(
        `insert into api_usage as u ("userId", period, "apiRequestsCount")
         values ($1, date_trunc('month', now() at time zone 'utc')::date, $2)
         on conflict ("userId", period) do update set "apiRequestsCount" = excluded."apiRequestsCount"`,
        [person.userId, Math.round(quota * share)],
      )
    const most = new Intl.NumberFormat('en-GB').format(quota)
    await use(0.79)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      const main = page.getByRole('navigation', { name: 'Main' })
      const warnings = page.getByRole('region', { name: 'Warnings' })
      const said = () => warnings.getByRole('link').allTextContents()
      await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
      await use(0.8)
      await main.getByRole('link', { name: 'Templates' }).click()
      await warnings.getByRole('link', { name: `80% of the ${most} API requests of this month are used.` }).waitFor()
      await use(0.999)
      await sql(site.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [person.userId])
      await main.getByRole('link', { name: 'Contacts' }).click()
      await warnings.getByRole('button', { name: '1 more' }).click()
      expect(await said()).toEqual([
        'The subscription is inactive: nothing is created or sent.',
        `99% of the ${most} API requests of this month are used.`,
      ])
      expect(await faultsOf(page)).toEqual([])
      await use(1)
      await warnings.getByRole('link', { name: 'The subscription is inactive' }).click()
      await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor()
      await warnings.getByRole('link', { name: 'The API requests of this month are used up: keys are refused.' }).click()
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
    })
  })

  it('shows numbers and times in a browser whose language is no valid tag, as that of Chromium without a LANG', async () => {
    await visit(site, { as: who.person }, async ({ page }) => {
      await page.addInitScript(() => Object.defineProperty(navigator, 'languages', { value: ['en-US@posix'] }))
      await page.goto('/me/messages')
      await page.getByRole('table').locator('time').first().waitFor()
      await page.goto(`/me/instances/${who.instance.id}`)
      await page.getByRole('heading', { name: 'Shop phone' }).waitFor()
    })
  })

  it('says when the gateway has a newer console than the page, and loads it on demand', async () => {
    await visit(site, { as: who.person }, async ({ page }) => {
      // A page that was loaded before an upgrade.
      await page.route('**/me/usage', async (route) => {
        const response = await route.fetch()
        const html = (await response.text()).replace(/(build&quot;:&quot;)\w+/, '$1earlier')
        await route.fulfill({ response, body: html })
      })
      await page.goto('/me/usage')
      const notice = page.getByRole('button', { name: 'There is a new version of this console. Load it.' })
      await notice.waitFor()
      await page.unrouteAll()
      await Promise.all([page.waitForEvent('load'), notice.click()])
      await page.getByRole('meter', { name: 'Messages' }).waitFor()
      expect(await page.locator('meta[name=settings]').getAttribute('content')).not.toContain('earlier')
    })
  })

  it('loads itself again for a page whose file an upgrade replaced', async () => {
    await visit(site, { as: who.person, path: '/me/live' }, async ({ page, expected }) => {
      expected.push(/404/)
      let loads = 0
      await page.route(/usage-[^/]*\.js$/, (route) => (loads > 0 ? route.continue() : route.fulfill({ status: 404 })))
      page.on('request', (request) => {
        if (request.isNavigationRequest()) loads++
      })
      await page.getByRole('link', { name: 'Usage' }).click()
      await page.getByRole('meter', { name: 'Messages' }).waitFor()
      expect(loads).toBe(1)
    })
  })

  it('says so when a file of a page stays missing, and loads itself again only once', async () => {
    await visit(site, { as: who.person, path: '/me/live' }, async ({ page, expected }) => {
      expected.push(/404/)
      let loads = 0
      await page.route(/usage-[^/]*\.js$/, (route) => route.fulfill({ status: 404 }))
      page.on('request', (request) => {
        if (request.isNavigationRequest()) loads++
      })
      await page.getByRole('link', { name: 'Usage' }).click()
      await page.getByRole('heading', { name: 'This did not work' }).waitFor()
      expect(loads).toBe(1)
      await page.unrouteAll()
      await page.getByRole('button', { name: 'Load again' }).click()
      await page.getByRole('meter', { name: 'Messages' }).waitFor()
    })
  })

  it.each([
    ['Asia/Kathmandu', 'pt-BR', 'Mensagens', 'Fuso horário'],
    ['America/St_Johns', 'en-GB', 'Messages', 'Time zone'],
  ])('shows every time in the zone of the reader, %s, or in the one that is chosen', async (timezoneId, locale, h1, zone) => {
    await visit(site, { as: who.person, path: '/me/messages', locale, timezoneId }, async ({ page }) => {
      await page.getByRole('heading', { level: 1, name: h1 }).waitFor()
      expect(await page.locator('html').getAttribute('lang')).toBe(locale.replace('-GB', ''))
      const time = page.getByRole('table').locator('time').first()
      const at = new Date((await time.getAttribute('datetime')) as string)
      const shown = (timeZone: string) => at.toLocaleTimeString(locale, { timeZone, hourCycle: 'h23' }).slice(0, 5)
      expect(await time.textContent()).toContain(shown(timezoneId))
      await page.goto('/account')
      // A chosen zone loads the page again.
      await Promise.all([page.waitForEvent('load'), page.getByRole('combobox', { name: zone }).selectOption('UTC')])
      await page.goto('/me/messages')
      expect(await page.getByRole('table').locator('time').first().textContent()).toContain(shown('UTC'))
    })
  })
})
