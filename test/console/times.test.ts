// Proves that a time is not read as one of another day.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('a time', () => {
  it('has its day once another one has begun, on a page that stays open', async () => {
    const who = await furnished(site)
    await sendText(who, '+4915112345678', { scheduledAt: new Date(Date.now() + 7 * 86_400_000).toISOString() })
    await visit(site, { as: who.person }, async ({ page }) => {
      await page.clock.install()
      await page.goto('/me/messages')
      const time = page.getByRole('table', { name: 'Messages' }).getByRole('time')
      await time.waitFor()
      expect(await time.textContent()).toMatch(/^\d\d:\d\d:\d\d$/)
      await page.clock.fastForward('24:00:00')
      await until(async () => /^\d\d? [A-Z][a-z]+, \d\d:\d\d$/.test((await time.textContent()) ?? ''))
    })
  })
})
