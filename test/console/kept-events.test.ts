// Proves that a list which is left open does not keep what the events of other messages bring.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()
const messages = 25
/** Sent, delivered and read. */
const events = 3 * messages

/** Runs in the page before its own code, and counts the events of the stream. */
function countReceived(): void {
  const parse = JSON.parse
  JSON.parse = (...args) => {
    const value = parse(...args)
    if (value?.data?.events?.cursor) Object.assign(globalThis, { eventsReceived: received() + 1 })
    return value
  }
}

function received(): number {
  return (globalThis as { eventsReceived?: number }).eventsReceived ?? 0
}

/** How many sets the page holds, after a garbage collection: reading a frame of events makes one. */
async function sets(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { result } = await session.send('Runtime.evaluate', { expression: 'Set.prototype' })
  const { objects } = await session.send('Runtime.queryObjects', { prototypeObjectId: result.objectId as string })
  const counting = {
    objectId: objects.objectId as string,
    functionDeclaration: 'function () { return this.length }',
    returnByValue: true,
  }
  return (await session.send('Runtime.callFunctionOn', counting)).result.value as number
}

describe.runIf(browserFound)('a list of messages that is left open', () => {
  it('forgets the events of messages that do not fit its filter', async () => {
    const who = await furnished(site)
    await visit(site, { as: who.person }, async ({ page }) => {
      await page.addInitScript(`${received}; (${countReceived})()`)
      await page.goto('/me/messages?status=cancelled')
      await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
      await page.getByText('No message').first().waitFor()
      const before = await sets(page)
      for (let n = 0; n < messages; n++) await sendText(who, `+49151123${10_000 + n}`)
      await until(async () => (await page.evaluate(received)) >= events)
      expect(await sets(page)).toBeLessThan(before + messages / 2)
    })
  })
})
