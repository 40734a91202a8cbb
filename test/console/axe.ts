// Accessibility by axe: WCAG 2.2, levels A and AA.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The violations on the page, as readable lines. The policy stays on: the debugger protocol evaluates beside it. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(`if (!window.axe) { ${source} }`)
  return await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run: (root: Document, options: object) => Promise<{ violations: Violation[] }> }
    }
    interface Violation {
      id: string
      nodes: { target: string[]; failureSummary: string }[]
    }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    const found = await axe.run(document, { runOnly: { type: 'tag', values: tags } })
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
    )
  })
}
