// Proves that the console works over plain http in a local network, where browsers offer neither a clipboard nor random ids.
import { expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { ownPort } from '../kit/port.ts'
import { browserFound, visit } from './rig.ts'

it.runIf(browserFound)('sends a message and copies its code on a page that is no secure context', async () => {
  const databaseUrl = await cloneDatabase()
  const port = await ownPort()
  const url = `http://gateway.lan:${port}`
  const gateway = await openGateway({ databaseUrl, env: { PORT: String(port), PUBLIC_URL: url } })
  const person = await newPerson(gateway, databaseUrl)
  await connectedInstance(databaseUrl, person)
  await visit({ url, databaseUrl }, { as: person, path: '/me/send' }, async ({ page }) => {
    await page.getByRole('textbox', { name: 'To', exact: true }).fill('+4915112345678')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello')
    expect(await page.evaluate(() => [isSecureContext, typeof navigator.clipboard])).toEqual([false, 'undefined'])
    await page.getByRole('button', { name: 'Show as code' }).click()
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('Copied').waitFor()
    const field = page.getByRole('textbox', { name: 'Text', exact: true })
    await field.focus()
    await field.press('Control+a')
    await field.press('Control+v')
    expect(await field.inputValue()).toContain(`curl ${url}/api/v1/messages/send`)
    await field.fill('Hello')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('status').getByText('Read').waitFor()

    // A selection outside of an open dialog is not copied.
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'API keys' }).click()
    const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' })
    await page.getByRole('button', { name: 'New key' }).click()
    await name.fill('The shop')
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByRole('textbox', { name: 'Your new key' }).inputValue()
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).first().click()
    await page.getByText('Copied').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'New key' }).click()
    await name.press('Control+v')
    expect(await name.inputValue()).toBe(key)
  })
})
