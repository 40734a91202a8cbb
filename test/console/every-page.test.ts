// Proves what holds on every page: names, landmarks, accessibility, no sideways scrolling, nothing from elsewhere, every language.
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { commons } from '../kit/commons.ts'
import { isData, visibleTexts, wordsOf } from './languages.ts'
import { missingPages, nameOf, openPages, pages } from './pages.ts'
import { browserFound, visit } from './rig.ts'
import { addressIn, given, openScene, type Scene } from './scene.ts'
import { type Survey, survey, surveyTimeout, untilRead } from './survey.ts'

vi.setConfig({ testTimeout: surveyTimeout, hookTimeout: surveyTimeout })
const site = commons()
let scene: Scene
let filled: Survey

describe.runIf(browserFound)('every page, filled', () => {
  beforeAll(async () => {
    scene = await openScene(site)
    filled = await survey(site, scene, [...pages, ...missingPages])
  })

  it('has one heading, one main part and a title', () => expect(filled.heads).toEqual([]))

  it('has no violation of WCAG 2.2 AA, in light and dark', () => expect(filled.axe).toEqual([]))

  it('does not scroll sideways from 320 to 1920 px, nor from right to left', () => expect(filled.layout).toEqual([]))

  it('stands still for readers who ask for that', () => expect(filled.motion).toEqual([]))

  it('keeps its controls and bars apart in forced colours', () => expect(filled.forcedColors).toEqual([]))

  it.each(pages.map((page) => [nameOf(page)]))('has the roles and names of its snapshot: %s', async (name) => {
    await expect(filled.snapshots.get(name)).toMatchFileSnapshot(`snapshots/${name}.yml`)
  })

  it('says no English word in Portuguese', async () => {
    const [english, portuguese] = await Promise.all([wordsOf('en'), wordsOf('pt-br')])
    const left: string[] = []
    await visit(site, { as: scene.person, locale: 'pt-BR', viewport: { width: 320, height: 700 } }, async ({ page }) => {
      for (const [path, , kind] of pages) {
        await page.goto(addressIn(scene, path))
        await page.locator('html[lang=pt-BR] h1').waitFor()
        await untilRead(page)
        const same = new Set(filled.texts.get(path))
        const said = (await visibleTexts(page)).filter((text) => !portuguese.has(text) && !isData(text, given))
        for (const text of said) if (english.has(text) || (kind !== 'shared' && same.has(text))) left.push(`${path}: ${text}`)
        // Portuguese takes more room.
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        if (over > 0) left.push(`${path} is ${over} px too wide`)
      }
    })
    expect(left).toEqual([])
  })
})

describe.runIf(browserFound)('every page', () => {
  it('is whole before anything happened', async () => {
    const empty: Scene = { person: await newPerson(site, site.databaseUrl), ids: {} }
    const found = await survey(
      site,
      empty,
      pages.filter(([path]) => path !== '/operator' && !path.includes('{')),
    )
    expect([found.heads, found.axe, found.layout, found.forcedColors]).toEqual([[], [], [], []])
  })

  it('is whole for people who are not signed in', async () => {
    const found = await survey(site, null, openPages)
    expect([found.heads, found.axe, found.layout, found.forcedColors]).toEqual([[], [], [], []])
    for (const [name, snapshot] of found.snapshots) await expect(snapshot).toMatchFileSnapshot(`snapshots/${name}.yml`)
  })
})
