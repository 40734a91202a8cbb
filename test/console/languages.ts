// The words of the console as the catalogues have them, and as a page shows them.
import { globSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { root } from '../kit/environment.ts'

const web = path.join(root, 'src/console/web')

export type Tag = 'en' | 'pt-br'

/** All words of a language that stand as they are, without those that are put together. */
export async function wordsOf(language: Tag): Promise<Set<string>> {
  const files = globSync(`**/{words-${language},${language}}.ts`, { cwd: web, exclude: ['generated/**', 'node_modules/**'] })
  const catalogues = await Promise.all(files.map(async (file) => Object.values(await import(path.join(web, file)))))
  return new Set(catalogues.flat().flatMap(textsIn))
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value ? Object.values(value).flatMap(textsIn) : []
}

/** All texts of the page, those that only screen readers say among them; neither code nor times. */
export async function visibleTexts(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const texts = new Set<string>()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.parentElement?.closest('script, noscript, pre, code, kbd, time, datalist'))
        texts.add(node.nodeValue?.trim() ?? '')
    }
    for (const name of ['aria-label', 'placeholder', 'alt', 'title', 'data-column', 'aria-valuetext']) {
      for (const element of document.body.querySelectorAll(`[${name}]:not(time)`)) texts.add(element.getAttribute(name) ?? '')
    }
    texts.delete('')
    return [...texts]
  })
}

/** Zones, languages in themselves, formats and measures: the same everywhere. */
const everywhere =
  /^(\w+\/[\w/+ -]+|UTC|GMT|English|Português \(Brasil\)|curl|GraphQL|TypeScript|\d+ ms|MAX|Free|Pro|Max|[\d.,]+ [MG]B( \/ [\d.,]+ [MG]B)?)$/
/** The gateway says these in English; the graph has no code for them. */
const ofTheGateway = /^max\w+ exceeded: |^Many (messages|recipients) .+: (check|write) /

/** True for what people and machines wrote, and for what is the same in every language. */
export function isData(text: string, given: readonly string[]): boolean {
  if (!/\p{L}{2}/u.test(text) || everywhere.test(text) || ofTheGateway.test(text)) return true
  if (/@|https?:|[0-9a-f]{8}-[0-9a-f]{4}-/.test(text)) return true
  return given.some((name) => text === name || text.startsWith(`${name} `) || text.startsWith(`${name},`))
}
