// The heap of an open list of messages while 100,000 events happen.
import type pg from 'pg'
import type { Page } from 'playwright-core'
import { insertMessages, move, type Sender, steps } from './traffic.ts'

const messagesOfRound = 500
const rounds = 50

/** The used heap in MB after each 20,000 events. `page` shows the list, with `shown` as the message of its first row. */
export async function heapOver(page: Page, pool: pg.Pool, sender: Sender, shown: string): Promise<number[]> {
  const cdp = await page.context().newCDPSession(page)
  const sizes: number[] = []
  for (let round = 1; round <= rounds; round++) {
    const ids = await insertMessages(pool, sender, messagesOfRound)
    for (const step of steps) {
      for (let n = 0; n < ids.length; n += 100) await move(pool, sender, ids.slice(n, n + 100), step)
    }
    // Events come in their order, so with this one the page has all of them.
    const [step, text] = round % 2 === 0 ? (['read', 'Read'] as const) : (['sent', 'Sent'] as const)
    await move(pool, sender, [shown], step)
    await page.locator('tbody tr').first().locator('td').last().getByText(text, { exact: true }).waitFor()
    if (round % 10 > 0) continue
    for (let n = 0; n < 3; n++) await cdp.send('HeapProfiler.collectGarbage')
    sizes.push((await cdp.send('Runtime.getHeapUsage')).usedSize / 1e6)
  }
  return sizes
}
