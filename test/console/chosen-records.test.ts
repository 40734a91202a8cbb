// Proves that a form never sends with another template or from another instance than the one that was chosen.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { commons } from '../kit/commons.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click()
}

describe.runIf(browserFound).concurrent('the choice of a record that is deleted meanwhile', () => {
  it('stays as it was where it is a template, and the message is refused', async () => {
    const { person } = await furnished(site)
    const make = async (name: string): Promise<string> =>
      (await person.api.post('/api/templates', { name, type: 'text', body: `Hello ${name}` })).body.data.id
    await make('Alpha')
    for (const [path, submit] of [
      ['/me/send', 'Send'],
      ['/me/campaigns/new', 'Start campaign'],
    ] as const) {
      const deleted = await make('Beta')
      await visit(site, { as: person, path }, async ({ page, expected }) => {
        expected.push(/404/)
        const template = page.getByRole('combobox', { name: 'Template' })
        await page.getByRole('combobox', { name: 'Type' }).selectOption('A template')
        await template.selectOption('Beta')
        await page.getByRole('textbox', { name: /^(To|Recipients)$/ }).fill('+4915112345678')
        if (submit !== 'Send') await page.getByRole('textbox', { name: 'Name' }).fill('News')
        await goTo(page, 'Live')
        await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
        await person.api.delete(`/api/templates/${deleted}`)
        await page.goBack()
        await template.getByRole('option', { name: 'Beta' }).waitFor({ state: 'detached' })
        expect(await template.inputValue()).toBe(deleted)
        await page.getByRole('button', { name: submit, exact: true }).click()
        await page.getByRole('alert').getByText('It does not exist any more.').first().waitFor()
      })
    }
    expect((await person.api.graphql('{ messages { nodes { id } } }')).body.data.messages.nodes).toEqual([])
  })

  it('stays as it was where it is an instance', async () => {
    const { person } = await furnished(site)
    const { id } = await connectedInstance(site.databaseUrl, person, { name: 'Second' })
    await person.api.delete(`/api/instances/${id}`)
    await visit(site, { as: person }, async ({ page }) => {
      for (const path of ['/me/send', '/me/campaigns/new']) {
        await page.goto(`${path}?instance=${id}`)
        const instance = page.getByRole('combobox', { name: 'Instance' })
        await instance.getByRole('option', { name: 'Shop phone' }).waitFor({ state: 'attached' })
        expect(await instance.inputValue()).toBe(id)
      }
    })
  })
})
