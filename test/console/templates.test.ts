// Proves that a template is made on its page, that its preview is what the server makes of it, and that a wrong one is marked.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('templates', () => {
  it('are made, previewed with values, changed and deleted', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/templates' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByText('No templates yet').waitFor()
      await page.getByRole('button', { name: 'New template' }).click()
      const dialog = page.getByRole('dialog', { name: 'New template' })
      const name = dialog.getByRole('textbox', { name: 'Name' })
      const body = dialog.getByRole('textbox', { name: 'Text' })
      await body.fill('Order {{custom.order}} for {{contact.firstName}}')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'New template' }).click()
      await dialog.getByRole('button', { name: 'Create template' }).click()
      await until(async () => (await name.getAttribute('aria-invalid')) === 'true')
      expect(await body.inputValue()).toContain('{{custom.order}}')
      await name.fill('Shipped')
      await body.fill('Order {{custom.order')
      await dialog.getByRole('button', { name: 'Create template' }).click()
      await until(async () => (await body.getAttribute('aria-invalid')) === 'true')
      // The field says what is wrong, so the form does not say it again.
      expect(await dialog.getByRole('alert').innerText()).toBe('Some of this cannot be accepted.')
      await body.fill('Order {{custom.order}} for {{contact.firstName}}')
      await dialog.getByRole('button', { name: 'Create template' }).dblclick()

      await page.getByRole('heading', { level: 1, name: 'Shipped' }).waitFor()
      const preview = page.getByRole('region', { name: 'Preview' })
      await preview.getByText('The contact of each recipient gives: contact.firstName.').waitFor()
      await preview.getByRole('textbox', { name: 'order' }).fill('A-17')
      await preview.getByText('Order A-17').waitFor()
      expect(await faultsOf(page)).toEqual([])

      const form = page.getByRole('region', { name: 'Template' })
      await form.getByRole('textbox', { name: 'Text' }).fill('Parcel {{custom.order}}')
      await form.getByRole('button', { name: 'Save' }).click()
      await form.getByText('Saved').waitFor()
      await preview.getByText('Parcel').waitFor()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('No templates yet').waitFor()
    })
  })
})
