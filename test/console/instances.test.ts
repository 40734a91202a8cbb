// Proves that an instance is made, connected, written to, logged out and deleted on its page.
import { describe, expect, it } from 'vitest'
import { commons, until } from '../kit/kit.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('instances', () => {
  it('are made, renamed, connected, written to in the sandbox, logged out and deleted', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/instances' }, async ({ page }) => {
      await page.getByRole('table', { name: 'Instances' }).getByRole('link', { name: 'Shop phone' }).waitFor()
      await page.getByRole('button', { name: 'New instance' }).click()
      const dialog = page.getByRole('dialog', { name: 'New instance' })
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Second phone')
      await dialog.getByRole('button', { name: 'Create instance' }).dblclick()
      await page.getByRole('heading', { level: 1, name: 'Second phone' }).waitFor()
      const connection = page.getByRole('region', { name: 'Connection' })
      await connection.getByRole('button', { name: 'Connect' }).click()
      await connection.getByText('Connected as +').waitFor()
      expect(await page.getByRole('region', { name: 'Safety' }).getByRole('meter', { name: 'Messages in an hour' }).count()).toBe(
        1,
      )
      expect(await faultsOf(page)).toEqual([])

      await page.getByRole('button', { name: 'Rename' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Third phone')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { level: 1, name: 'Third phone' }).waitFor()

      const phone = page.getByRole('region', { name: 'Write to this instance' })
      await phone.getByRole('textbox', { name: 'From' }).fill('+4915112345678')
      await phone.getByRole('textbox', { name: 'Text' }).fill('Hello there')
      await phone.getByRole('button', { name: 'Receive' }).click()
      await phone.getByRole('link', { name: 'Open the message' }).waitFor()

      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click()
      await connection.getByRole('button', { name: 'Connect' }).waitFor()
      await page.getByRole('button', { name: 'Delete instance' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete instance' }).click()
      const table = page.getByRole('table', { name: 'Instances' })
      await table.waitFor()
      await until(async () => (await table.getByRole('row').count()) === 2)
    })
  })

  it('of another network ask for its settings, and mark each that is missing', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/instances' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByRole('button', { name: 'New instance' }).click()
      const dialog = page.getByRole('dialog', { name: 'New instance' })
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Shop')
      await dialog.getByRole('combobox', { name: 'Network' }).selectOption('WhatsApp Cloud API')
      await dialog.getByRole('textbox', { name: 'Phone number ID' }).fill('123456789012345')
      await dialog.getByRole('button', { name: 'Create instance' }).click()
      const token = dialog.getByLabel('Access token')
      await until(async () => (await token.getAttribute('aria-invalid')) === 'true')
      expect(await dialog.getByRole('textbox', { name: 'Phone number ID' }).inputValue()).toBe('123456789012345')
      expect(await dialog.getByRole('textbox', { name: 'Phone number ID' }).getAttribute('aria-invalid')).toBe(null)
    })
  })
})
