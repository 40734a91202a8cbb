// Proves that a number that is added on the page gets no messages, and gets them again when it was removed.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()
const phone = '+4915112345678'

describe.runIf(browserFound)('the do-not-contact page', () => {
  it('adds a number, marks a wrong one, and removes it again', async () => {
    const { person, instance } = await furnished(site)
    const send = () => person.api.post('/api/messages/send', { instanceId: instance.id, to: phone, type: 'text', text: 'Hello' })
    await visit(site, { as: person, path: '/me/suppressions' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByRole('button', { name: 'Add number' }).click()
      const dialog = page.getByRole('dialog', { name: 'Add number' })
      const number = dialog.getByRole('textbox', { name: 'Number' })
      await number.fill('12')
      await dialog.getByRole('button', { name: 'Add', exact: true }).click()
      await until(async () => (await number.getAttribute('aria-invalid')) === 'true')
      await number.fill(phone)
      await dialog.getByRole('button', { name: 'Add', exact: true }).click()
      const row = page.getByRole('table', { name: 'Numbers' }).getByRole('row').nth(1)
      await row.getByText('Added by hand').waitFor()
      expect((await send()).status).toBe(409)
      await row.getByRole('button', { name: `Remove ${phone}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByText('No number is in the list yet.').waitFor()
      expect((await send()).status).toBe(201)
    })
  })

  it('adds a number after STOP and removes it after START, without a reload', async () => {
    const { person, instance } = await furnished(site)
    const receive = (text: string) =>
      person.api.graphql('mutation($id: ID!, $input: SandboxInboundInput!) { receiveInSandbox(id: $id, input: $input) { id } }', {
        id: instance.id,
        input: { from: phone, text },
      })
    await visit(site, { as: person, path: '/me/suppressions' }, async ({ page }) => {
      await page.getByText('No number is in the list yet.').waitFor()
      await page.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      await receive('STOP')
      await page.getByRole('table', { name: 'Numbers' }).getByText(phone, { exact: true }).waitFor()
      await receive('START')
      await page.getByText('No number is in the list yet.').waitFor()
    })
  })

  it('keeps the keywords and the answer that were saved', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/suppressions' }, async ({ page }) => {
      const keywords = page.getByRole('region', { name: 'Keywords' })
      await keywords.getByRole('textbox', { name: 'Keywords, one a line' }).fill('STOP\nNO MORE')
      await keywords.getByRole('textbox', { name: 'Answer' }).fill('We will not write again.')
      await keywords.getByRole('button', { name: 'Save' }).click()
      await keywords.getByText('Saved').waitFor()
      const { body } = await person.api.graphql('{ suppressionSettings { keywords reply } }')
      expect(body.data.suppressionSettings).toMatchObject({ reply: 'We will not write again.' })
      expect(body.data.suppressionSettings.keywords.map((word: string) => word.toLowerCase())).toEqual(['stop', 'no more'])
    })
  })
})
