// Proves that a form of a record shows the record as it is now, and changes nothing that its reader has not changed.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()
const phone = '+4915112345678'

describe.runIf(browserFound).concurrent('a form of a record', () => {
  it('has what was changed elsewhere, keeps what is typed, and undoes neither', async () => {
    const { person } = await furnished(site)
    const { id } = (await person.api.post('/api/contacts', { name: 'Ada', phone, email: 'ada@example.com' })).body.data
    const change = (input: object) =>
      person.api.graphql('mutation($id: ID!, $input: UpdateContactInput!) { updateContact(id: $id, input: $input) { id } }', {
        id,
        input,
      })
    await visit(site, { as: person, path: `/me/contacts/${id}` }, async ({ page }) => {
      const [name, email] = [page.getByRole('textbox', { name: 'Name' }), page.getByRole('textbox', { name: 'Email' })]
      await email.waitFor()
      // The page is left and comes back with what it knew.
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Templates' }).click()
      await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
      await change({ email: 'lovelace@example.com' })
      await page.goBack()
      await until(async () => (await email.inputValue()) === 'lovelace@example.com')
      await page.getByRole('textbox', { name: 'Tags' }).fill('early')
      await change({ name: 'Ada Lovelace' })
      await until(async () => (await name.inputValue()) === 'Ada Lovelace')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved').waitFor()
      const { contact } = (await person.api.graphql(`{ contact(id: "${id}") { name email tags } }`)).body.data
      expect(contact).toEqual({ name: 'Ada Lovelace', email: 'lovelace@example.com', tags: ['early'] })
    })
  })

  it('of keywords has those that were saved when its reader comes back', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/suppressions' }, async ({ page }) => {
      const keywords = page.getByRole('textbox', { name: 'Keywords, one a line' })
      await keywords.fill('NO MORE')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved').waitFor()
      const menu = page.getByRole('navigation', { name: 'Main' })
      await menu.getByRole('link', { name: 'Templates' }).click()
      await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
      await menu.getByRole('link', { name: 'Do not contact' }).click()
      await until(async () => (await keywords.inputValue()) === 'NO MORE')
    })
  })

  it('of a template follows its type, and keeps the text and the file while other types are looked at', async () => {
    const { person } = await furnished(site)
    const { id } = (await person.api.post('/api/templates', { name: 'Greeting', type: 'text', body: 'Hello' })).body.data
    const change = 'mutation($id: ID!, $input: UpdateTemplateInput!) { updateTemplate(id: $id, input: $input) { id } }'
    await visit(site, { as: person, path: `/me/templates/${id}` }, async ({ page }) => {
      const type = page.getByRole('combobox', { name: 'Type' })
      await type.waitFor()
      // The page is left and comes back with what it knew.
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Contacts' }).click()
      await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
      await person.api.graphql(change, { id, input: { type: 'image', mediaUrl: 'https://example.com/a.png' } })
      await page.goBack()
      await until(async () => (await type.inputValue()) === 'image')
      await page.getByRole('textbox', { name: 'Text' }).fill('Good day')
      await page.getByLabel('File').fill('https://example.com/b.png')
      for (const other of ['audio', 'text', 'document']) await type.selectOption(other)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Saved').waitFor()
      const { template } = (await person.api.graphql(`{ template(id: "${id}") { type body mediaUrl } }`)).body.data
      expect(template).toEqual({ type: 'document', body: 'Good day', mediaUrl: 'https://example.com/b.png' })
    })
  })
})
