// Proves the pages of messages: changes appear live, and nothing jumps.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, pausedLog, sendText, visit } from './rig.ts'

const site = commons()
const rows = (page: Page) => page.getByRole('table', { name: 'Messages' }).getByRole('row')

describe.runIf(browserFound).concurrent('the list of messages', () => {
  it('turns a row to read while one looks, without a reload', async () => {
    const person = await newPerson(site, site.databaseUrl)
    const instance = await connectedInstance(site.databaseUrl, person, { status: 'disconnected' })
    await sendText({ person, instance }, '+4915112345678')
    await visit(site, { as: person, path: '/me/messages' }, async ({ page }) => {
      const row = rows(page).filter({ hasText: '+4915112345678' })
      await row.getByText('Queued').waitFor()
      // The message leaves once the row was seen.
      await person.api.graphql(`mutation { connectInstance(id: "${instance.id}") { status } }`)
      await row.getByText('Read').waitFor()
    })
  })

  it('keeps new rows behind a button, and shows them when asked', async () => {
    const who = await furnished(site)
    await sendText(who, '+4915112340005')
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page }) => {
      await rows(page).filter({ hasText: '+4915112340005' }).waitFor()
      const before = await rows(page).nth(1).boundingBox()
      for (const to of ['+4915112345671', '+4915112345672', '+4915112345673']) await sendText(who, to)
      const button = page.getByRole('button', { name: 'Show 3 new', exact: true })
      await button.waitFor()
      expect(await rows(page).count()).toBe(2)
      // Nothing moved.
      expect(await rows(page).nth(1).boundingBox()).toEqual(before)
      await button.click()
      await rows(page).filter({ hasText: '+4915112345673' }).waitFor()
      expect(await rows(page).count()).toBe(5)
      expect(await page.getByRole('button', { name: /Show .* new/ }).count()).toBe(0)
    })
  })

  it('tells of an older message that comes to fit the filter', async () => {
    const who = await furnished(site)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const [older, newer] = [
      await sendText(who, '+4915112345671', { scheduledAt }),
      await sendText(who, '+4915112345672', { scheduledAt }),
    ]
    const cancel = (id: string) => who.person.api.post(`/api/messages/${id}/cancel`, {})
    await cancel(newer)
    await visit(site, { as: who.person, path: '/me/messages?status=cancelled' }, async ({ page }) => {
      await until(async () => (await rows(page).count()) === 2)
      await cancel(older)
      await page.getByRole('button', { name: 'Show 1 new', exact: true }).click()
      await until(async () => (await rows(page).count()) === 3)
    })
  })

  it('has its filters in the address, and a reload shows the same', async () => {
    const who = await furnished(site)
    await sendText(who, '+4915112340001')
    await sendText(who, '+4915112345678')
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page }) => {
      await until(async () => (await rows(page).count()) === 3)
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Failed')
      await page.waitForURL('**/me/messages?status=failed')
      await until(async () => (await rows(page).count()) === 2)
      await page.reload()
      await until(async () => (await rows(page).count()) === 2)
      expect(await page.getByRole('combobox', { name: 'Status' }).inputValue()).toBe('failed')
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await page.getByRole('textbox', { name: 'Number' }).fill('+49 151 12345678')
      await page.waitForURL('**/me/messages?number=%2B4915112345678')
      await until(async () => (await rows(page).count()) === 2)
      await page.getByRole('combobox', { name: 'Type' }).selectOption('Image')
      await page.getByText('No message matches these filters.').waitFor()
    })
  })

  it('reads older pages, and shows each message once', async () => {
    const who = await furnished(site)
    await sql(site.databaseUrl).query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", direction, type, "from", "to", peer, body, status, safety, "createdAt", "updatedAt")
       select uuidv7(), $1, $2, $3, 'inbound', 'text', '+49151200000' || lpad(n::text, 3, '0'), '+4915112345678', '+49151200000' || lpad(n::text, 3, '0'), 'n' || n, 'received',
         '{"decision":"allow","riskLevel":"low","state":"stable","score":100}', now() - make_interval(secs => n), now()
       from generate_series(1, 120) n`,
      [who.person.workspaceId, who.person.userId, who.instance.id],
    )
    await visit(site, { as: who.person, path: '/me/messages?direction=inbound' }, async ({ page }) => {
      for (const shown of [51, 101, 121]) {
        await until(async () => (await rows(page).count()) === shown)
        if (shown < 121) await page.getByRole('button', { name: 'Show more' }).click()
      }
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
      const numbers = await page.getByRole('table', { name: 'Messages' }).getByRole('link').allTextContents()
      expect(new Set(numbers).size).toBe(120)
    })
  })

  it('cancels what is selected, and saves the filtered list as a file', async () => {
    const who = await furnished(site)
    const later = { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() }
    for (const to of ['+4915112345671', '+4915112345672', '+4915112345673']) await sendText(who, to, later)
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page }) => {
      const boxes = page.getByRole('checkbox', { name: /^Select/ })
      await boxes.nth(2).waitFor()
      await boxes.nth(0).click()
      await boxes.nth(2).click({ modifiers: ['Shift'] })
      expect(await boxes.evaluateAll((all) => all.map((box) => (box as HTMLInputElement).checked))).toEqual([true, true, true])
      await boxes.nth(1).click()
      await page.getByRole('button', { name: 'Cancel selected' }).click()
      await until(async () => (await rows(page).getByText('Cancelled').count()) === 2)
      expect(await rows(page).getByText('Queued').count()).toBe(1)
      const download = page.waitForEvent('download')
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Cancelled')
      await page.getByRole('button', { name: 'Export CSV' }).click()
      const file = await (await download).createReadStream()
      const text = Buffer.concat(await file.toArray()).toString()
      expect(text.trim().split(/\r?\n/)).toHaveLength(3)
    })
  })
})

describe.runIf(browserFound).concurrent('a message', () => {
  it('shows its timeline as it grows, and the same call as code that works', async () => {
    const who = await furnished(site)
    const id = await sendText(who, '+4915112345678')
    await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
      const timeline = page.getByRole('list', { name: 'Timeline' })
      await timeline.getByText('Read').waitFor()
      expect(await timeline.getByRole('listitem').count()).toBe(5)
      await page.getByRole('region', { name: 'Webhook deliveries' }).getByText('It caused none so far.').waitFor()
      for (const tab of ['GraphQL', 'TypeScript', 'curl']) {
        await page.getByRole('tab', { name: tab, exact: true }).click()
        await page.getByRole('tabpanel', { name: tab }).getByText(who.instance.id).waitFor()
      }
      const curl = (await page.getByRole('region', { name: 'curl' }).textContent()) as string
      const [, body = ''] = curl.match(/-d '(.*)'$/s) ?? []
      const { status } = await api(site, who.person.apiKey).post('messages/send', JSON.parse(body))
      expect([curl.startsWith(`curl ${site.url}/api/v1/messages/send`), status]).toEqual([true, 201])
    })
  })

  it('says in words why it failed, and is sent again from a filled form', async () => {
    const who = await furnished(site)
    const id = await sendText(who, '+4915112340001', { text: 'Once more' })
    await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
      await page.getByText('The number is not on the network.').waitFor()
      await page.getByRole('button', { name: 'Send again' }).click()
      await page.getByRole('heading', { level: 1, name: 'Send a message' }).waitFor()
      expect(await page.getByRole('textbox', { name: 'To', exact: true }).inputValue()).toBe('+4915112340001')
      expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe('Once more')
    })
  })

  it('that waits is cancelled, and shows its text as text', async () => {
    const who = await furnished(site)
    const text = '<img src=x onerror="fetch(\'https://evil.example\')"><script>1</script>'
    const id = await sendText(who, '+4915112345678', { text, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() })
    await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
      await page.getByText(text, { exact: true }).waitFor()
      await page.getByText(/^Its time has not come. Until /).waitFor()
      await page.getByRole('button', { name: 'Cancel message' }).click()
      await page.getByRole('list', { name: 'Timeline' }).getByText('Cancelled').waitFor()
      expect(await page.getByRole('button', { name: 'Cancel message' }).count()).toBe(0)
    })
  })
})

describe.runIf(browserFound).concurrent('the start page and the live page', () => {
  it('tick the first steps by themselves, with a command that works', async () => {
    const person = await newPerson(site, site.databaseUrl)
    const instance = await connectedInstance(site.databaseUrl, person)
    await visit(site, { as: person, path: '/me' }, async ({ page }) => {
      const steps = page.getByRole('list', { name: 'First steps' })
      await steps.getByText('An instance is connected – Done').waitFor()
      await page.getByRole('button', { name: 'Put a key in' }).click()
      await page.getByText('The key is shown only now.').waitFor()
      const curl = (await page.getByRole('region', { name: 'curl' }).textContent()) as string
      const [, key = ''] = curl.match(/x-api-key: (svc_live_\w+)/) ?? []
      const text = { instanceId: instance.id, to: '+4915112345678', type: 'text', text: 'Hello' }
      expect((await api(site, key).post('messages/send', text)).status).toBe(201)
      await steps.getByText('See it delivered – Done').waitFor()
      await page.reload()
      await page.getByRole('region', { name: 'Today' }).waitFor()
    })
  })

  it('lead somebody without an instance to the page of each step', async () => {
    const person = await newPerson(site, site.databaseUrl)
    await visit(site, { as: person, path: '/me/send' }, async ({ page }) => {
      const note = page.getByText('There is no instance yet.')
      expect(await note.getByRole('link', { name: 'Instances' }).getAttribute('href')).toBe('/me/instances')
      await page.goto('/me')
      const steps = page.getByRole('list', { name: 'First steps' })
      await steps.getByText('the id of your instance in the place of INSTANCE').waitFor()
      expect(await steps.getByRole('link', { name: 'Add an endpoint' }).getAttribute('href')).toBe('/me/webhooks')
      await steps.getByRole('link', { name: 'Connect an instance' }).click()
      await page.getByRole('heading', { name: 'Instances', level: 1 }).waitFor()
    })
  })

  it('count from the new midnight when they stay open over it', async () => {
    const who = await furnished(site)
    const id = await sendText(who, '+4915112345678')
    await until(
      async () => (await who.person.api.graphql(`{ message(id: "${id}") { status } }`)).body.data.message.status === 'read',
    )
    await visit(site, { as: who.person }, async ({ page }) => {
      const starts = new Set<string>()
      page.on('request', (request) => {
        const since = request.url().endsWith('/graphql') && request.postDataJSON()?.variables?.since
        if (since) starts.add(since)
      })
      await page.clock.install()
      await page.goto('/me')
      await page.getByRole('region', { name: 'Today' }).waitFor()
      await until(() => starts.size === 1)
      await page.clock.fastForward('24:00:00')
      await until(() => starts.size === 2)
      const [first = '', second = ''] = starts
      expect(Date.parse(second) - Date.parse(first)).toBeGreaterThanOrEqual(23 * 3_600_000)
    })
  })

  it('show events as they happen, stop on request, and count what waits', async () => {
    const who = await furnished(site)
    await visit(site, { as: who.person, path: '/me/live' }, async ({ page }) => {
      const log = await pausedLog(page, who)
      await sendText(who, '+4915112345672')
      await page.getByText(/^\d wait$/).waitFor()
      expect(await log.getByText('+4915112345672').count()).toBe(0)
      await page.getByRole('button', { name: 'Resume' }).click()
      await log.getByText('+4915112345672').first().waitFor()
    })
  })
})
