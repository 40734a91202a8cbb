// Proves that the pace of a campaign is what its form says: quiet hours are not forgotten, no rate is guessed, and none is made out of the default.
import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

/** A person with a campaign that has not started. */
async function withCampaign() {
  const { person, instance } = await furnished(site)
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const message = { instanceId: instance.id, type: 'text', text: 'Hello', recipients: [{ to: '+4915112345671' }] }
  const { body } = await person.api.post('/api/campaigns', { ...message, name: 'News', scheduledAt })
  return { person, id: body.data.id as string }
}

/** Unticks the quiet hours and ticks them again. */
async function tickTwice(form: Locator): Promise<void> {
  const box = form.getByRole('checkbox', { name: 'Quiet hours' })
  await box.uncheck()
  await form.getByLabel('Quiet from').waitFor({ state: 'hidden' })
  await box.check()
}

describe.runIf(browserFound).concurrent('the pace of a campaign', () => {
  it('keeps the times of quiet hours that are unticked and ticked again, here or after a look at another page', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/campaigns/new' }, async ({ page }) => {
      const form = page.getByRole('main')
      const times = async () => [await form.getByLabel('Quiet from').inputValue(), await form.getByLabel('Quiet to').inputValue()]
      await form.getByRole('checkbox', { name: 'Quiet hours' }).check()
      await form.getByLabel('Quiet from').fill('22:30')
      await form.getByLabel('Quiet to').fill('06:15')
      await tickTwice(form)
      expect(await times()).toEqual(['22:30', '06:15'])
      await form.getByRole('checkbox', { name: 'Quiet hours' }).uncheck()
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Live' }).click()
      await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
      await page.goBack()
      const box = form.getByRole('checkbox', { name: 'Quiet hours' })
      expect(await box.isChecked()).toBe(false)
      await box.check()
      expect(await times()).toEqual(['22:30', '06:15'])
    })
  })

  it('is refused if the rate is no number, and stays with that text', async () => {
    const { person, id } = await withCampaign()
    await visit(site, { as: person, path: `/me/campaigns/${id}` }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByRole('button', { name: 'Edit' }).click()
      const dialog = page.getByRole('dialog')
      const rate = dialog.getByLabel('Messages a minute')
      await rate.pressSequentially('1e')
      await dialog.getByRole('checkbox', { name: 'Quiet hours' }).check()
      await dialog.getByLabel('Quiet from').fill('22:30')
      await tickTwice(dialog)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('must be a number').waitFor()
      expect(await rate.inputValue()).toBe('1e')
      await rate.fill('12')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      const { body } = await person.api.graphql(
        `{ campaign(id: "${id}") { ratePerMinute ownRatePerMinute quietHours { from } } }`,
      )
      expect(body.data.campaign).toEqual({ ratePerMinute: 12, ownRatePerMinute: 12, quietHours: { from: '22:30' } })
    })
  })

  it('follows the safety of the instance after the campaign got another name', async () => {
    const { person, id } = await withCampaign()
    const query = (text: string) => sql(site.databaseUrl).query(text, [id])
    await query('update campaigns set "defaultRate" = 60 where id = $1')
    await visit(site, { as: person, path: `/me/campaigns/${id}` }, async ({ page }) => {
      await page.getByRole('button', { name: 'Edit' }).click()
      const dialog = page.getByRole('dialog')
      await until(async () => (await dialog.getByLabel('Messages a minute').inputValue()) === '')
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Old news')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { level: 1, name: 'Old news' }).waitFor()
      const { body } = await person.api.graphql(`{ campaign(id: "${id}") { ratePerMinute ownRatePerMinute } }`)
      expect(body.data.campaign).toEqual({ ratePerMinute: 60, ownRatePerMinute: null })
    })
  })
})
