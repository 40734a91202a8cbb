// Proves the live view: it survives a crash of the gateway without a gap or a repeat, and spares connections.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { commons } from '../kit/commons.ts'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('the live view', () => {
  it('says so when the gateway is killed, resumes, and then shows each event of the log once', async () => {
    const databaseUrl = await cloneDatabase()
    const env = { PORT: String(await ownPort()), SANDBOX_LATENCY_MS: '300' }
    const first = await startGateway({ databaseUrl, env })
    const person = await newPerson(first, databaseUrl)
    const who = { person, instance: await connectedInstance(databaseUrl, person) }
    await visit({ url: first.url, databaseUrl }, { as: person, path: '/me/live' }, async ({ page, tab, expected }) => {
      expected.push(/ERR_|503/)
      const status = page.getByRole('status', { name: 'Live' })
      await status.getByText('Live', { exact: true }).waitFor()
      const lines = page.getByRole('log', { name: 'Events' }).getByRole('link')
      await sendText(who, '+4915112345671')
      await until(async () => (await lines.count()) === 4)
      const list = await tab()
      await list.goto('/me/messages')
      const rows = list.getByRole('table', { name: 'Messages' }).getByRole('row')
      await rows.filter({ hasText: '+4915112345671' }).getByText('Read').waitFor()
      // Its receipts come while nobody listens.
      await sendText(who, '+4915112345672')
      first.kill('SIGKILL')
      await first.exited
      await status.getByText('Reconnecting').waitFor()
      await startGateway({ databaseUrl, env })
      await status.getByText('Live', { exact: true }).waitFor()
      await sendText(who, '+4915112345673')
      await until(async () => (await lines.count()) >= 12, { timeoutMs: 60_000 })
      const log = await person.api.graphql('{ events(first: 50) { nodes { type message { to } } } }')
      const told = log.body.data.events.nodes.map(({ message }: { message: { to: string } }) => message.to)
      const shown = await lines.allTextContents()
      // The list of events has those that webhooks offer: all but the queuing.
      const numbers = ['+4915112345671', '+4915112345672', '+4915112345673']
      const times = (all: string[], number: string) => all.filter((each) => each === number).length
      expect(numbers.map((number) => times(shown, number))).toEqual(numbers.map((number) => times(told, number) + 1))
      await list.getByRole('button', { name: 'Show 2 new', exact: true }).click()
      for (const number of numbers) await rows.filter({ hasText: number }).getByText('Read').waitFor()
      expect(await rows.count()).toBe(1 + numbers.length)
    })
  })

  it('stays on its page when the gateway is killed while a part of the page loads', async () => {
    const databaseUrl = await cloneDatabase()
    const env = { PORT: String(await ownPort()) }
    const first = await startGateway({ databaseUrl, env })
    const person = await newPerson(first, databaseUrl)
    await visit({ url: first.url, databaseUrl }, { as: person }, async ({ page, expected }) => {
      expected.push(/ERR_|503/)
      const asked = Promise.withResolvers<void>()
      const killed = Promise.withResolvers<void>()
      await page.route(/find-[^/]*\.js$/, async (route) => {
        asked.resolve()
        await killed.promise
        await route.continue()
      })
      await page.goto('/me/live')
      const status = page.getByRole('status', { name: 'Live' })
      await status.getByText('Live', { exact: true }).waitFor()
      await asked.promise
      first.kill('SIGKILL')
      await first.exited
      const failed = page.waitForEvent('requestfailed', (request) => /find-[^/]*\.js$/.test(request.url()))
      killed.resolve()
      await failed
      await status.getByText('Reconnecting').waitFor()
      const noPage = page.waitForEvent('requestfailed', (request) => /usage-[^/]*\.js$/.test(request.url()))
      await page.getByRole('link', { name: 'Usage' }).click()
      await noPage
      await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor()
      await startGateway({ databaseUrl, env })
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
      await status.getByText('Live', { exact: true }).waitFor()
      // The first key may load the page again, because a browser may keep the failure of a module.
      await until(async () => {
        await page.keyboard.press('Control+k')
        return await page.getByRole('textbox', { name: 'Find' }).isVisible()
      })
    })
  })

  it('works in eight tabs of one browser, although it has six connections', async () => {
    const who = await furnished(site)
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page, tab }) => {
      const tabs = [page, ...(await Promise.all(Array.from({ length: 7 }, tab)))]
      await Promise.all(tabs.slice(1).map((each) => each.goto('/me/messages')))
      await Promise.all(
        tabs.map((each) => each.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()),
      )
      // A list that is read after the message was sent has it already.
      await Promise.all(tabs.map((each) => each.getByText('No messages yet').waitFor()))
      await sendText(who, '+4915112345678')
      await Promise.all(tabs.map((each) => each.getByRole('button', { name: 'Show 1 new' }).waitFor()))
      await Promise.all(tabs.map((each) => each.getByRole('button', { name: 'Show 1 new' }).click()))
      await Promise.all(tabs.map((each) => each.getByRole('table', { name: 'Messages' }).getByText('Read').waitFor()))
    })
  })

  it('holds no connection in a tab that nobody sees, and is complete when it is seen again', async () => {
    const databaseUrl = await cloneDatabase()
    const gateway = await startGateway({ databaseUrl })
    const person = await newPerson(gateway, databaseUrl)
    const who = { person, instance: await connectedInstance(databaseUrl, person) }
    const streams = async () => {
      const text = await (await fetch(`${gateway.url}/metrics`)).text()
      return Number(text.match(/^gateway_open_streams(?:\{[^}]*\})? (\d+)/m)?.[1])
    }
    await visit({ url: gateway.url, databaseUrl }, { as: person, path: '/me/messages' }, async ({ page }) => {
      await until(async () => (await streams()) === 1)
      // A list that is read after the message was sent has it already.
      await page.getByText('No messages yet').waitFor()
      await turn(page, 'hidden')
      await until(async () => (await streams()) === 0)
      await sendText(who, '+4915112345678')
      await turn(page, 'visible')
      await page.getByRole('button', { name: 'Show 1 new' }).click()
      await page.getByRole('table', { name: 'Messages' }).getByText('Read').waitFor()
      await until(async () => (await streams()) === 1)
    })
  })
})

/** Headless Chromium shows every page, so the page is told what a browser would tell it. */
async function turn(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
}
