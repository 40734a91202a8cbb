// Proves that the preview of Send recovers by itself, and tells beside its field what cannot be accepted.
import { expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

it.runIf(browserFound)('the preview of Send no longer says that the gateway is away once it is back', async () => {
  const { person } = await furnished(site)
  await visit(site, { as: person, path: '/me/send' }, async ({ page, context, expected }) => {
    expected.push(/ERR_INTERNET_DISCONNECTED/)
    await page.getByRole('textbox', { name: 'To', exact: true }).fill('+4915112345678')
    await context.setOffline(true)
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello')
    const refusal = page.getByRole('alert').getByText('The gateway cannot be reached.')
    await refusal.waitFor()
    await context.setOffline(false)
    await until(async () => (await refusal.count()) === 0)
    expect(await page.getByRole('region', { name: 'Preview' }).innerText()).toContain('Hello')
  })
})

it.runIf(browserFound)('the check of Send tells beside the field what cannot be accepted, before anything is sent', async () => {
  const { person } = await furnished(site)
  await visit(site, { as: person, path: '/me/send' }, async ({ page, expected }) => {
    expected.push(/400/)
    await page.getByRole('textbox', { name: 'To', exact: true }).fill('+4915112345678')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello')
    await page.getByRole('checkbox', { name: 'Schedule' }).check()
    const when = page.getByLabel(/^When/)
    await when.fill('2020-01-01T10:00')
    await page.getByText('must be in the future').waitFor()
    expect(await when.getAttribute('aria-invalid')).toBe('true')
    await when.fill(new Date(Date.now() + 172_800_000).toISOString().slice(0, 16))
    await page.getByRole('region', { name: 'Preview' }).getByText('It leaves at').waitFor()
    expect(await when.getAttribute('aria-invalid')).toBe(null)
  })
})
