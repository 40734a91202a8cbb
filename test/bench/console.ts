// console: the list of messages in a browser whose processor is four times slower, beside a bare React page with as many rows.
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { launchChromium } from '../console/chromium.ts'
import { heapOver } from '../console/heap.ts'
import { insertMessages, move, steps } from '../console/traffic.ts'
import type { Figures } from './accept.ts'
import { type Account, median, openStage, password, percentile, type Running, type Stage } from './stage.ts'
import { readVitals, watchVitals } from './vitals.ts'

const rounds = { short: 3, full: 5 }
const slowerCpu = 4

/** A page under measurement: how it is opened, and how 20 of its rows change. */
interface Side {
  open: (context: BrowserContext) => Promise<string>
  publish: (step: number) => Promise<unknown>
}

interface Scene {
  stage: Stage
  account: Account
  gateway: Running
  browser: Browser
  /** The messages that the list shows, newest first. */
  shown: string[]
  signIn: (context: BrowserContext) => Promise<void>
}

export async function benchConsole(full: boolean): Promise<Figures[]> {
  await using stage = await openStage(1)
  // Without workers, which would send messages that have no job after a while.
  await using gateway = await stage.start('src/main.ts', { ROLES: 'http,relay' })
  await using baseline = await stage.start('test/bench/baseline-console.ts')
  const account = stage.accounts[0] as Account
  const shown = (await insertMessages(stage.pool, account, 50)).reverse()
  const browser = await launchChromium()
  try {
    const signIn = async (context: BrowserContext) =>
      void (await context.request.post(`${gateway.url}/api/auth/login`, { data: { email: 'bench0@gateway.test', password } }))
    const scene: Scene = { stage, account, gateway, browser, shown, signIn }
    const ours: Side = {
      async open(context) {
        await signIn(context)
        return `${gateway.url}/me/messages`
      },
      publish: (step) => move(stage.pool, account, shown.slice(0, 20), steps[step % 4] ?? 'read'),
    }
    const bare: Side = {
      open: async () => baseline.url,
      publish: (step) => fetch(`${baseline.url}/publish`, { method: 'POST', body: steps[step % 4] }),
    }
    const compared = await compare(browser, ours, bare, full ? rounds.full : rounds.short)
    return [...compared, await commitToPainted(scene), ...(full ? [await heapGrowth(scene)] : [])]
  } finally {
    await browser.close()
  }
}

/** A page of the gateway with a session, which shows its list of messages and follows it. */
async function openList({ browser, gateway, signIn }: Scene): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' })
  await context.addInitScript(watchVitals)
  await signIn(context)
  const page = await context.newPage()
  await load(page, `${gateway.url}/me/messages`)
  await page.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
  return page
}

interface Measured {
  cold: number
  warm: number
  lcp: number
  inp: number
  cls: number
}

async function compare(browser: Browser, ours: Side, bare: Side, times: number): Promise<Figures[]> {
  const all = { ours: [] as Measured[], bare: [] as Measured[] }
  // In turns, so that other load on the machine affects both alike.
  for (let round = 0; round < times; round++) {
    all.bare.push(await measure(browser, bare))
    all.ours.push(await measure(browser, ours))
    console.error(`console: round ${round + 1}: ${JSON.stringify({ ours: all.ours.at(-1), bare: all.bare.at(-1) })}`)
  }
  const figure = (name: string, key: keyof Measured, target: string, unit = 'ms'): Figures => {
    const [baseline, value] = [median(all.bare.map((one) => one[key])), median(all.ours.map((one) => one[key]))]
    return { name: `console: ${name}`, unit, baseline, gateway: value, ratio: value / baseline, target }
  }
  return [
    figure('rows after a cold load, 4 × slower', 'cold', '≤ 1000 ms'),
    figure('rows after a warm load, 4 × slower', 'warm', '≤ 400 ms'),
    figure('largest contentful paint, cold, 4 × slower', 'lcp', '≤ 1000 ms'),
    figure('INP, p98 at 200 events/s, 4 × slower', 'inp', '≤ 100 ms'),
    figure('layout shift', 'cls', '≤ 0', ''),
  ]
}

async function measure(browser: Browser, side: Side): Promise<Measured> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' })
  try {
    await context.addInitScript(watchVitals)
    const url = await side.open(context)
    const page = await context.newPage()
    const cdp = await context.newCDPSession(page)
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowerCpu })
    const cold = await load(page, url)
    const warm = await load(page, url)
    const interactions = await interact(page, cdp, side)
    const { durations, shift } = await readVitals(page)
    // Interactions of less than 16 ms are not reported.
    const every = [...durations, ...Array.from({ length: Math.max(0, interactions - durations.length) }, () => 8)]
    return { cold: cold.rows, warm: warm.rows, lcp: cold.largest, inp: percentile(every, 0.98), cls: cold.shift + shift }
  } finally {
    await context.close()
  }
}

async function load(page: Page, url: string): Promise<{ rows: number; largest: number; shift: number }> {
  await page.goto(url)
  // Asked ten times a second. A locator waits by a search in every frame, which took 45 of 360 ms from the page that is measured.
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 50, undefined, { polling: 100 })
  await pause(300)
  return await readVitals(page)
}

/** Selects rows and types while 200 events arrive each second. Returns the number of interactions. */
async function interact(page: Page, cdp: CDPSession, side: Side): Promise<number> {
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowerCpu })
  let busy = true
  const traffic = (async () => {
    for (let step = 0; busy; step++) await Promise.all([side.publish(step), pause(100)])
  })()
  let interactions = 0
  for (let n = 0; n < 30; n++) {
    await page
      .getByRole('checkbox')
      .nth(n % 10)
      .click()
    interactions++
    await pause(30)
  }
  await page.getByRole('textbox', { name: 'Number' }).focus()
  for (let n = 0; n < 30; n++) {
    await page.keyboard.press(String(n % 10))
    interactions++
    await pause(30)
  }
  busy = false
  await traffic
  await pause(300)
  return interactions
}

/** One message changes at a time: from just before the commit to the frame that shows it. */
async function commitToPainted(scene: Scene): Promise<Figures> {
  const { stage, account, shown } = scene
  const page = await openList(scene)
  const times: number[] = []
  for (let n = 0; n < 200; n++) {
    const [at, step] = [n % 20, Math.floor(n / 20) % 2 === 0 ? 'sent' : 'read'] as const
    const painted = page.evaluate(paintedAt, { at, text: step === 'sent' ? 'Sent' : 'Read' })
    const committed = await move(stage.pool, account, [shown[at] as string], step)
    times.push((await painted) - committed)
  }
  await page.context().close()
  const ms = percentile(times, 0.99)
  return { name: 'console: commit to painted, p99', unit: 'ms', baseline: 300, gateway: ms, ratio: ms / 300, target: '≤ 300 ms' }
}

/** When the row at that place was drawn with that status. */
function paintedAt({ at, text }: { at: number; text: string }): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.querySelectorAll('tbody tr')[at]?.lastElementChild?.textContent === text) setTimeout(() => resolve(Date.now()))
      else requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
}

async function heapGrowth(scene: Scene): Promise<Figures> {
  const page = await openList(scene)
  const sizes = await heapOver(page, scene.stage.pool, scene.account, scene.shown[0] as string)
  await page.context().close()
  console.error(`console: heap after every 20,000 events: ${sizes.map((size) => size.toFixed(1)).join(', ')} MB`)
  const [first = 0, last = 0] = [sizes[0], sizes.at(-1)]
  const growth = Math.max(0, last - first)
  const figure = { unit: 'MB', baseline: first, gateway: growth, ratio: growth / first, target: '≤ 10 MB' }
  return { name: 'console: heap growth from 20,000 to 100,000 events', ...figure }
}
