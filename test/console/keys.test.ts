// Proves that a key made on the page works at once, is shown once, and is refused after it was revoked.
import { describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('API keys', () => {
  it('are made by name and access, shown once, listed with their use, and revoked', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/keys' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByRole('button', { name: 'New key' }).click()
      const dialog = page.getByRole('dialog', { name: 'New key' })
      await dialog.getByRole('button', { name: 'Create key' }).click()
      const name = dialog.getByRole('textbox', { name: 'Name' })
      await until(async () => (await name.getAttribute('aria-invalid')) === 'true')
      await name.fill('The shop')
      await dialog.getByRole('combobox', { name: 'Access' }).selectOption('Read only')
      await dialog.getByRole('button', { name: 'Create key' }).dblclick()
      const key = await dialog.getByRole('textbox', { name: 'Your new key' }).inputValue()
      expect(await dialog.getByRole('region', { name: 'Try it' }).textContent()).toContain(key)
      await dialog.getByText('Waiting for its first request …').waitFor()
      const program = api(site, key)
      expect((await program.get('instances')).status).toBe(200)
      await dialog.getByText('Its first request has arrived.').waitFor()
      expect(await faultsOf(page)).toEqual([])
      expect((await program.post('messages/send', {})).status).toBe(403)
      await dialog.getByRole('button', { name: 'Done' }).click()

      const row = page.getByRole('table', { name: 'API keys' }).getByRole('row').filter({ hasText: 'The shop' })
      await row.waitFor()
      expect(await row.count()).toBe(1)
      expect(await page.content()).not.toContain(key)
      await page.reload()
      await row.getByText('Read only').waitFor()
      // The page follows the counts. The request that its access refused does not count.
      const requests = row.getByRole('cell').nth(5)
      await until(async () => (await requests.textContent()) === '1')
      expect((await program.get('instances')).status).toBe(200)
      await until(async () => (await requests.textContent()) === '2')
      await page.getByText('Requests by day').click()
      const days = page.getByRole('table', { name: 'Requests by day' }).getByRole('row').filter({ hasText: 'The shop' })
      expect(await days.getByRole('cell').nth(2).textContent()).toBe('2')
      expect(await faultsOf(page)).toEqual([])
      await row.getByRole('button', { name: 'Revoke The shop' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
      await until(async () => (await row.count()) === 0)
      expect((await program.get('instances')).status).toBe(401)
    })
  })
})
