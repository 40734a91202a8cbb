// Requirements on every page: accessible, and not wider than a small screen.
import type { Page } from 'playwright-core'
import { violations } from './axe.ts'

/** Violations of WCAG of the page as it is, in both themes, and by how much it is too wide for a small screen. */
export async function faultsOf(page: Page): Promise<unknown[]> {
  const found: unknown[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    found.push(...(await violations(page)))
  }
  await page.setViewportSize({ width: 320, height: 700 })
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  if (over > 0) found.push(`${over} px too wide`)
  await page.setViewportSize({ width: 1280, height: 800 })
  return found
}
