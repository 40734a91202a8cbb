// Proves how every page is while its answers are awaited, after they failed, while the gateway is gone, and afterwards.
import type { Page, Request, Route } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { commons } from '../kit/commons.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openPassage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import { violations } from './axe.ts'
import { wordsOf } from './languages.ts'
import { pages } from './pages.ts'
import { browserFound } from './rig.ts'
import { addressIn, openScene, type Scene } from './scene.ts'
import { shiftsSoFar, watchShifts } from './shifts.ts'
import { eachPage, settle, surveyTimeout, untilRead } from './survey.ts'

vi.setConfig({ testTimeout: surveyTimeout, hookTimeout: surveyTimeout })
const site = commons()
let scene: Scene
/** A gateway whose database is gone. */
let broken: string

beforeAll(async () => {
  scene = await openScene(site)
  broken = await openBroken()
})

/** A real gateway that cannot answer, because the way to its database is cut. */
async function openBroken(): Promise<string> {
  const databaseUrl = new URL(await cloneDatabase())
  const passage = await openPassage(Number(databaseUrl.port))
  databaseUrl.port = String(passage.port)
  const { url } = await openGateway({ databaseUrl: databaseUrl.href })
  passage.close()
  await until(async () => (await fetch(`${url}/readyz`)).status === 503)
  return url
}

/** True for what the page itself reads, and not the shell around it. */
function isOfPage(request: Request): boolean {
  const { pathname } = new URL(request.url())
  if (pathname.startsWith('/api/')) return pathname !== '/api/auth/token'
  return pathname === '/graphql' && !/\b(query|subscription) (Shell|Start|Events|Attention)\b/.test(request.postData() ?? '')
}

type Mode = 'held' | 'refused' | 'gone' | 'through'

interface Steered {
  turn: (mode: Mode) => void
  held: Route[]
}

/** Decides what becomes of the requests of the tab. */
async function steer(page: Page, first: Mode): Promise<Steered> {
  let mode = first
  const held: Route[] = []
  async function decide(route: Route): Promise<void> {
    if (mode === 'gone') await route.abort('connectionrefused')
    else if (mode === 'refused') {
      const { pathname, search } = new URL(route.request().url())
      // On a busy machine a connection may be cut between; the page asks again.
      const response = await route.fetch({ url: broken + pathname + search }).catch(() => undefined)
      await (response ? route.fulfill({ response }) : route.abort('connectionrefused'))
    } else {
      held.push(route)
      if (mode === 'through' && held.length === 1) await answer()
    }
  }
  /** One after another, the latest first: answers may come in any order, and this one moves what is not prepared for it. */
  async function answer(): Promise<void> {
    await frame(page)
    for (let route = held.at(-1); route; route = held.at(-1)) {
      await route.continue()
      await route.request().response()
      // By the second frame, what the answer makes the page ask has arrived here.
      await frame(page)
      await frame(page)
      held.splice(held.indexOf(route), 1)
    }
  }
  function turn(next: Mode): void {
    mode = next
    if (next === 'through' && held.length > 0) void answer()
  }
  await page.route(/\/(graphql|api\/.*)$/, (route) => (isOfPage(route.request()) ? decide(route) : route.continue()))
  await page.addInitScript(watchShifts)
  return { turn, held }
}

const frame = (page: Page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))

/** Says nothing exists: words that must not stand where nobody knows. */
async function claimsOf(page: Page): Promise<string[]> {
  const english = await wordsOf('en')
  const text = await page.getByRole('main').innerText()
  return [...english].filter((words) => /^(No |There (is|are) no|Nothing )/.test(words) && text.includes(words))
}

const inBothThemes = async (page: Page) => {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await violations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  return [...light, ...(await violations(page, ['color-contrast']))]
}

describe.runIf(browserFound).concurrent('a page', () => {
  const reading = pages.filter(([, , kind]) => kind !== 'form')

  it('says that it loads, claims nothing, and moves nothing when its rows come', async () => {
    const found: string[] = []
    await eachPage(site, { as: scene.person }, reading, async (_, [path, h1, kind], { tab }) => {
      // A tab for each page, because a change of routes may miss a request, and the streams of earlier pages may keep connections.
      const page = await tab()
      const { turn, held } = await steer(page, 'held')
      await page.goto(addressIn(scene, path))
      await page.getByRole('heading', { level: 1 }).waitFor()
      await until(() => held.length > 0)
      if ((await page.getByText('Loading …').count()) === 0) found.push(`${path} does not say that it loads`)
      for (const claim of await claimsOf(page)) found.push(`${path} claims: ${claim}`)
      for (const fault of await inBothThemes(page)) found.push(`${path}: ${fault}`)
      await page.evaluate(() => window.scrollTo(0, 0))
      turn('through')
      await settle(page, h1)
      await until(() => held.length === 0)
      // Other tests move the tables of an operator.
      for (const shift of kind === 'shared' ? [] : await page.evaluate(shiftsSoFar)) found.push(`${path} moves ${shift}`)
      // The page may ask something more meanwhile.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.close()
    })
    expect(found).toEqual([])
  })

  it('says why it is not there, claims nothing, and comes by itself once the gateway is back', async () => {
    const found: string[] = []
    await eachPage(site, { as: scene.person }, reading, async (_, [path, h1], { tab, expected }) => {
      const page = await tab()
      expected.push(/503|ERR_CONNECTION_REFUSED/)
      const { turn, held } = await steer(page, 'refused')
      await page.goto(addressIn(scene, path))
      await page.getByRole('alert').getByText('The gateway is not ready.').first().waitFor()
      await untilRead(page)
      for (const claim of await claimsOf(page)) found.push(`${path} claims: ${claim}`)
      for (const fault of await inBothThemes(page)) found.push(`${path}: ${fault}`)
      turn('gone')
      await page.getByRole('alert').getByText('The gateway cannot be reached.').first().waitFor()
      turn('through')
      await settle(page, h1)
      await until(async () => (await page.getByRole('alert').count()) === 0 && held.length === 0)
      // The page may ask something more meanwhile.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.close()
    })
    expect(found).toEqual([])
  })
})
