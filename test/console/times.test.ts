// Proves that a time is not read as one of another day or year.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('a time', () => {
  it('has its year if that is not the present one', async () => {
    const { person } = await furnished(site)
    const year = new Date().getUTCFullYear() - 2
    for (const [n, at] of [`${year}-03-05T10:15:00Z`, `${year}-12-31T20:00:00Z`].entries()) {
      const { id } = (await person.api.post('/api/contacts', { name: `Contact ${n}`, phone: `+49151123456${10 + n}` })).body.data
      await sql(site.databaseUrl).query('update contacts set "createdAt" = $2 where id = $1', [id, at])
    }
    // There, the next year has begun then.
    await visit(site, { as: person, path: '/me/contacts', timezoneId: 'Asia/Kathmandu' }, async ({ page }) => {
      const times = page.getByRole('table', { name: 'Contacts' }).getByRole('time')
      await times.nth(1).waitFor()
      expect((await times.allTextContents()).sort()).toEqual([`1 Jan ${year + 1}, 01:45`, `5 Mar ${year}, 16:00`])
    })
  })

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
