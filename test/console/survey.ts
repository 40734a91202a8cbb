// Opens pages one after another, and notes what no page may do. One reading of a page serves many tests.
import type { Page } from 'playwright-core'
import { violations } from './axe.ts'
import { visibleTexts } from './languages.ts'
import { nameOf, type PageOfConsole, pages } from './pages.ts'
import { type Site, type Visit, type VisitOptions, visit } from './rig.ts'
import { addressIn, type Scene } from './scene.ts'

/** The faults that were found, by promise: lines that begin with the address. */
export interface Survey {
  axe: string[]
  layout: string[]
  motion: string[]
  forcedColors: string[]
  heads: string[]
  /** The roles and names of each page, by the name of its file. */
  snapshots: Map<string, string>
  /** The text of each page, by its address. */
  texts: Map<string, string[]>
}

export const widths = [320, 390, 768, 1920]

/** Time limit in ms for a test or hook that visits all pages. Each wait on a page has its own limit, and its error names the page. */
export const surveyTimeout = pages.length * 60_000

/** Waits until the page shows what it has. */
export async function settle(page: Page, h1: string | RegExp): Promise<void> {
  const heading = typeof h1 === 'string' ? { name: h1, exact: true } : { name: h1 }
  await page.getByRole('heading', { level: 1, ...heading }).waitFor()
  await untilRead(page)
}

/** Waits until nothing of the page is being read. */
export async function untilRead(page: Page): Promise<void> {
  await page.waitForFunction(
    () => !document.querySelector('[aria-busy=true]') && !/(Loading|Carregando) …/.test(document.body.textContent ?? ''),
  )
}

/** Visits the pages one after another, in two browser contexts at the same time. */
export async function eachPage(
  site: Site,
  options: VisitOptions,
  pages: readonly PageOfConsole[],
  act: (page: Page, asked: PageOfConsole, visit: Visit) => Promise<void>,
): Promise<void> {
  const left = [...pages]
  const visitor = () =>
    visit(site, options, async (visited) => {
      for (let asked = left.shift(); asked; asked = left.shift()) await act(visited.page, asked, visited)
    })
  await Promise.all([visitor(), visitor()])
}

export async function survey(site: Site, scene: Scene | null, pages: readonly PageOfConsole[]): Promise<Survey> {
  const found: Survey = {
    ...{ axe: [], layout: [], motion: [], forcedColors: [], heads: [] },
    ...{ snapshots: new Map(), texts: new Map() },
  }
  await eachPage(site, { as: scene?.person }, pages, async (page, asked, { expected }) => {
    // A session is asked for where there is none, and another's workspace is not found.
    expected.push(/40[14]/)
    await look(page, site, scene, asked, found)
  })
  return found
}

async function look(page: Page, site: Site, scene: Scene | null, asked: PageOfConsole, found: Survey): Promise<void> {
  const [path, h1, kind] = asked
  await page.goto(scene ? addressIn(scene, path) : path)
  await settle(page, h1)
  const say = (list: string[], faults: string[]) => list.push(...faults.map((fault) => `${path}: ${fault}`))
  say(found.heads, await headFaults(page))
  say(found.axe, await violations(page))
  found.texts.set(path, await visibleTexts(page))
  const snapshot = await snapshotOf(page, site, scene)
  found.snapshots.set(nameOf(asked), kind === 'shared' ? withoutOthers(snapshot) : snapshot)
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  // The theme changes colours only.
  say(found.axe, await violations(page, ['color-contrast']))
  say(found.motion, await page.evaluate(movingElements))
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active', reducedMotion: null })
  say(found.forcedColors, await page.evaluate(unseenControls))
  await page.emulateMedia({ forcedColors: 'none' })
  for (const width of widths) {
    await page.setViewportSize({ width, height: 700 })
    say(found.layout, await page.evaluate(layoutFaults, width))
  }
  await page.setViewportSize({ width: 320, height: 700 })
  await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
  say(found.layout, await page.evaluate(layoutFaults, 'right to left'))
  await page.setViewportSize({ width: 1280, height: 800 })
}

async function headFaults(page: Page): Promise<string[]> {
  const one = async (role: 'main' | 'banner') => (await page.getByRole(role).count()) === 1
  const faults: string[] = []
  if ((await page.locator('h1').count()) !== 1) faults.push('has not one h1')
  if (!(await one('main'))) faults.push('has not one main')
  if (!(await page.title()).includes(' · ')) faults.push(`has the title ${await page.title()}`)
  return faults
}

/** Roles, names and texts, without what differs in each run. */
async function snapshotOf(page: Page, site: Site, scene: Scene | null): Promise<string> {
  await page.evaluate(() => {
    for (const time of document.querySelectorAll('time')) time.textContent = 'TIME'
  })
  const text = await page.getByRole('main').ariaSnapshot()
  return `${text
    .replaceAll(site.url, 'GATEWAY')
    .replaceAll(scene?.person.email ?? '\0', 'EMAIL')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'RECEIVER')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/svc_live_\w+/g, 'KEY')
    .replaceAll(/\+39\d+/g, 'NUMBER')
    // Browsers do not know the same zones.
    .replaceAll(/\n +- option "\w+\/[^"]+"/g, '')
    .replaceAll(/\d+(\.\d+)? ?(ms|secs?|s|min|m|hr|h|days?|d)\b/g, 'DURATION')
    .replaceAll(/\b\d{4}-\d\d-\d\d\b|\b\d{1,2} \w{3,9} \d{4}\b/g, 'DATE')
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d\d:\d\d(:\d\d)?\b/g, 'TIME')
    // The use of a whole period depends on the day.
    .replaceAll(/\n +- paragraph: At this rate .*/g, '')
    // Rows that are alike count as one: days without messages.
    .replaceAll(/(\n +- row .*(?:\n +- cell.*)*)\1+/g, '$1')}\n`
}

/** The constant part of a page about the whole installation, on which other tests work, too: without numbers, and with the heads of tables only. */
function withoutOthers(snapshot: string): string {
  const left: string[] = []
  let below: number | undefined
  for (const [n, line] of snapshot.replaceAll(/\d+/g, 'N').split('\n').entries()) {
    const depth = line.search(/\S/)
    if (below !== undefined && depth > below) continue
    below = /^ *- row /.test(line) && snapshot.split('\n')[n + 1]?.includes('- cell') ? depth : undefined
    if (below === undefined && !/button "Show more"|: No job failed/.test(line))
      left.push(line.replace(/rowgroup:$/, 'rowgroup').replace(/: N, the oldest for DURATION$/, ': "N"'))
  }
  return left.join('\n')
}

/** Elements that move although the reader asked for no motion. */
function movingElements(): string[] {
  const moves = ({ animationName, transitionDuration }: CSSStyleDeclaration) =>
    animationName !== 'none' || transitionDuration.split(', ').some((time) => Number.parseFloat(time) > 0)
  return [...document.querySelectorAll('*')]
    .filter((element) => ['', '::before', '::after'].some((part) => moves(getComputedStyle(element, part || null))))
    .map((element) => `${element.tagName} ${element.className} moves`)
}

/** Controls that only their background sets apart, which forced colours take away, and bars that look like their track. */
function unseenControls(): string[] {
  const shown = (selector: string) =>
    [...document.querySelectorAll<HTMLElement>(selector)].filter(
      (element) => element.checkVisibility() && element.offsetWidth > 2,
    )
  const edged = ({ borderBlockEndStyle, borderBlockEndWidth, outlineStyle }: CSSStyleDeclaration) =>
    (borderBlockEndStyle !== 'none' && Number.parseFloat(borderBlockEndWidth) > 0) || outlineStyle !== 'none'
  const flat = shown('button, select, textarea, input:not([type=checkbox], [type=radio]), [role=meter], [role=progressbar]')
    .filter((element) => !edged(getComputedStyle(element)))
    .map((element) => `${element.tagName} ${element.getAttribute('aria-label') ?? element.textContent} has no edge`)
  const level = shown('[role=meter] > *, [role=progressbar] > *').filter(
    (bar) => getComputedStyle(bar).backgroundColor === getComputedStyle(bar.parentElement as HTMLElement).backgroundColor,
  )
  return [...flat, ...level.map((bar) => `${bar.parentElement?.ariaLabel} shows no level`)]
}

function layoutFaults(at: number | string): string[] {
  const { scrollWidth, clientWidth } = document.documentElement
  return scrollWidth > clientWidth ? [`${scrollWidth - clientWidth} px too wide, ${at}`] : []
}
