// Proves that the preview of Send recovers by itself.
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
