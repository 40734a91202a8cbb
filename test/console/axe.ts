// Accessibility by axe: WCAG 2.2, levels A and AA.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The violations of all rules, or of those, on the page as it is. The policy stays on: the debugger protocol evaluates beside it. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(`if (!window.axe) { ${source} }`)
  return await page.evaluate(
    async (runOnly) => {
      const { axe } = window as unknown as {
        axe: { run: (root: Document, options: object) => Promise<{ violations: Violation[] }> }
      }
      interface Violation {
        id: string
        nodes: { target: string[]; failureSummary: string }[]
      }
      const found = await axe.run(document, { runOnly, resultTypes: ['violations'] })
      return found.violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
      )
    },
    rules ? { type: 'rule', values: rules } : { type: 'tag', values: tags },
  )
}
