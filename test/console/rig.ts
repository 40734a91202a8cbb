// A real browser on a real gateway. Every page is checked for what no page may do.
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { newPerson, type Person } from '../accounts/person.ts'
import { connectedInstance, type TestInstance } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { hungMs } from '../kit/until.ts'
import { findChromium, launchChromium } from './chromium.ts'

export interface Site {
  url: string
  databaseUrl: string
}

/** Null where there is no browser. Under CI that is a failure; elsewhere one line says what to install. */
export const browserFound = findChromium() !== null || Boolean(process.env.CI)
if (!browserFound) console.warn('The tests of the console were left out: install Chromium, and set CHROMIUM to its path.')

let launched: Promise<Browser> | undefined

/** One browser for each test file. */
async function browser(): Promise<Browser> {
  if (!launched) {
    const opened = launchChromium()
    launched = opened
    atEnd('file', async () => {
      launched = undefined
      await (await opened).close()
    })
  }
  return await launched
}

export interface Visit {
  context: BrowserContext
  page: Page
  /** Opens another tab. Its faults count, too. */
  tab: () => Promise<Page>
  /** Console errors that the test causes on purpose, as by a gateway that is killed. */
  expected: RegExp[]
}

export interface VisitOptions extends BrowserContextOptions {
  /** Signed in by a cookie. */
  as?: Person
  path?: string
}

/** Opens a page, runs the test, and fails if a page logged an error, threw one, broke the policy or asked another server. */
export async function visit(site: Site, options: VisitOptions, test: (visit: Visit) => Promise<void>): Promise<void> {
  const { as, path, ...rest } = options
  const context = await (await browser()).newContext({
    baseURL: site.url,
    locale: 'en-GB',
    viewport: { width: 1280, height: 800 },
    ...rest,
  })
  context.setDefaultTimeout(hungMs)
  const faults: string[] = []
  const expected: RegExp[] = []
  context.on('console', (message) => message.type() === 'error' && faults.push(`${message.text()} ${message.location().url}`))
  context.on('weberror', (error) => faults.push(String(error.error())))
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== new URL(site.url).origin && !['data:', 'blob:'].includes(protocol)) faults.push(`request to ${request.url()}`)
  })
  try {
    if (as) {
      const [name = '', value = ''] = as.cookie.split('=', 2)
      await context.addCookies([{ name, value, url: site.url, httpOnly: true, sameSite: 'Lax' }])
    }
    const page = await context.newPage()
    if (path) await page.goto(path)
    await test({ context, page, tab: () => context.newPage(), expected })
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${await shownBy(context)}\n${faults.join('\n')}`, { cause: error })
  } finally {
    await context.close()
  }
  expect(faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)))).toEqual([])
}

/** Returns the URL and the accessibility tree of each open page, for the error of a failed test. */
async function shownBy(context: BrowserContext): Promise<string> {
  const shown = context
    .pages()
    .map(async (page) => `${page.url()}:\n${await page.locator('body').ariaSnapshot({ timeout: 5_000 })}`)
  return (await Promise.all(shown.map((text) => text.catch(String)))).join('\n')
}

/** A person with a connected sandbox instance. */
export async function furnished(site: Site): Promise<{ person: Person; instance: TestInstance }> {
  const person = await newPerson(site, site.databaseUrl)
  return { person, instance: await connectedInstance(site.databaseUrl, person, { name: 'Shop phone' }) }
}

/** Shows on Live, which is open, that a message was read, and pauses the page. Returns the log. */
export async function pausedLog(page: Page, who: { person: Person; instance: TestInstance }): Promise<Locator> {
  const log = page.getByRole('log', { name: 'Events' })
  await log.waitFor()
  await sendText(who, '+4915112345671')
  await log.getByText('Message read').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('status', { name: 'Live' }).getByText('Paused').waitFor()
  return log
}

/** Sends a text by the API, as another program would. Returns the id of the message. */
export async function sendText(who: { person: Person; instance: TestInstance }, to: string, extra: object = {}): Promise<string> {
  const input = { instanceId: who.instance.id, to, type: 'text', text: 'Hello', ...extra }
  const scheduled = 'scheduledAt' in extra
  const { body } = await who.person.api.post(`/api/messages/${scheduled ? 'schedule' : 'send'}`, input)
  return body.data.id
}
