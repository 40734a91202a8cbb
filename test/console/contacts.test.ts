// Proves that contacts are made, searched, grouped, imported and deleted on their pages, and that a conversation is live.
import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('contacts', () => {
  it('are made, marked when they are wrong, changed, put into a group, written to and deleted', async () => {
    const who = await furnished(site)
    await visit(site, { as: who.person, path: '/me/contacts' }, async ({ page, expected }) => {
      expected.push(/400/)
      const groups = page.getByRole('region', { name: 'Groups' })
      await groups.getByRole('textbox', { name: 'New group' }).fill('Friends')
      await groups.getByRole('button', { name: 'Add' }).click()
      await groups.getByRole('link', { name: 'Friends' }).waitFor()
      await page.getByRole('button', { name: 'New contact' }).click()
      const dialog = page.getByRole('dialog', { name: 'New contact' })
      await dialog.getByRole('textbox', { name: 'Name' }).and(page.locator(':focus')).waitFor()
      await page.keyboard.type('Ada')
      const number = dialog.getByRole('textbox', { name: 'Number' })
      await number.fill('12')
      await dialog.getByRole('button', { name: 'Create contact' }).click()
      await until(async () => (await number.getAttribute('aria-invalid')) === 'true')
      await number.fill('+4915112345678')
      await dialog.getByRole('textbox', { name: 'Values for templates' }).fill('order=A-17')
      await dialog.getByRole('button', { name: 'Create contact' }).dblclick()

      await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor()
      const ofContact = page.getByRole('region', { name: 'Groups' })
      await ofContact.getByRole('combobox', { name: 'Add to the group' }).selectOption('Friends')
      await ofContact.getByRole('button', { name: 'Add' }).click()
      await ofContact.getByRole('link', { name: 'Friends' }).waitFor()
      const conversation = page.getByRole('region', { name: 'Conversation' })
      await conversation.getByText('No message was sent or received.').waitFor()
      await sendText(who, '+4915112345678')
      await conversation.getByText('Read').waitFor()
      expect(await faultsOf(page)).toEqual([])
      const form = page.getByRole('region', { name: 'Contact', exact: true })
      await form.getByRole('textbox', { name: 'Name' }).fill('Ada Lovelace')
      await form.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor()

      await ofContact.getByRole('link', { name: 'Friends' }).click()
      await page.getByRole('heading', { level: 1, name: 'Friends' }).waitFor()
      await page.getByRole('table', { name: 'Members' }).getByRole('link', { name: 'Ada Lovelace' }).waitFor()
      expect(await faultsOf(page)).toEqual([])
      await page.getByRole('button', { name: 'Take out Ada Lovelace' }).click()
      await page.getByText('This group has no members.').waitFor()
      await page.getByRole('button', { name: 'Rename group' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Regulars')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { level: 1, name: 'Regulars' }).waitFor()
      await page.goBack()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('No contacts yet.').waitFor()
    })
  })

  it('are added to a group on its page, one after the other', async () => {
    const { person } = await furnished(site)
    const add = (name: string, phone: string) => person.api.post('/api/contacts', { name, phone })
    for (const [n, name] of ['Ada', 'Adele', 'Linus'].entries()) await add(name, `+491511234567${n}`)
    const { id } = (await person.api.post('/api/contacts/groups', { name: 'Friends' })).body.data
    await visit(site, { as: person, path: `/me/groups/${id}` }, async ({ page }) => {
      const field = page.getByRole('searchbox', { name: 'Add a contact' })
      const members = page.getByRole('table', { name: 'Members' }).getByRole('link')
      await field.fill('ad')
      await page.getByRole('option', { name: 'Adele' }).click()
      await members.getByText('Adele').waitFor()
      // The field keeps the focus.
      await page.keyboard.type('ad')
      // The other one is a member already.
      await page.getByRole('option', { name: 'Ada' }).waitFor()
      expect(await page.getByRole('option').count()).toBe(1)
      await field.press('ArrowDown')
      await field.press('Enter')
      await until(async () => (await members.allTextContents()).sort().join() === 'Ada,Adele')
    })
  })

  it('keep the values and tags that a form cannot write, unless they are changed', async () => {
    const { person } = await furnished(site)
    const custom = { address: 'Street 1\nBerlin', 'k=1': 'v', order: 'A-17' }
    const { body } = await person.api.post('/api/contacts', { name: 'Ada', phone: '+4915112345678', tags: ['a, b'], custom })
    const stored = async () => (await person.api.get(`/api/contacts/${body.data.id}`)).body.data
    await visit(site, { as: person, path: `/me/contacts/${body.data.id}` }, async ({ page }) => {
      const form = page.getByRole('region', { name: 'Contact', exact: true })
      const save = async () => {
        await form.getByRole('button', { name: 'Save' }).click()
        await form.getByText('Saved').waitFor()
      }
      await form.getByRole('textbox', { name: 'Name' }).fill('Grace')
      await save()
      expect(await stored()).toMatchObject({ name: 'Grace', tags: ['a, b'], custom })
      const values = form.getByRole('textbox', { name: 'Values for templates' })
      await values.fill((await values.inputValue()).replace('A-17', 'A-18'))
      await form.getByRole('textbox', { name: 'Tags' }).fill('a, c')
      await save()
      expect(await stored()).toMatchObject({ tags: ['a', 'c'], custom: { ...custom, order: 'A-18' } })
      await values.fill('order=A-19')
      await save()
      expect((await stored()).custom).toEqual({ order: 'A-19' })
    })
  })

  it('keep a number and a time in one line beside a long name', async () => {
    const { person } = await furnished(site)
    const name = 'Maximiliane Wolfeschlegelsteinhausenbergerdorff of Hohenlohe and Langenburg'
    const input = { name, phone: '+4915112345678', tags: ['one of many long tags', 'another of many long tags'] }
    await person.api.graphql('mutation($input: CreateContactInput!) { createContact(input: $input) { id } }', { input })
    await visit(site, { as: person, path: '/me/contacts', viewport: { width: 1000, height: 800 } }, async ({ page }) => {
      const row = page.getByRole('row').filter({ hasText: name })
      expect(await linesOf(row.getByText(input.phone))).toBe(1)
      expect(await linesOf(row.getByRole('time'))).toBe(1)
    })
  })

  it('go from the list, their group and their own page when another program deletes them', async () => {
    const { person } = await furnished(site)
    const add = async (name: string, phone: string) => (await person.api.post('/api/contacts', { name, phone })).body.data.id
    const [ada, linus, grace] = [
      await add('Ada', '+4915112345671'),
      await add('Linus', '+4915112345672'),
      await add('Grace', '+4915112345673'),
    ]
    const group = (await person.api.post('/api/contacts/groups', { name: 'Friends' })).body.data.id
    await person.api.post(`/api/contacts/groups/${group}/members`, { contactIds: [linus, grace] })
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      const table = page.getByRole('table', { name: 'Contacts' })
      await table.getByRole('link', { name: 'Ada' }).waitFor()
      await person.api.delete(`/api/contacts/${ada}`)
      await table.getByRole('link', { name: 'Ada' }).waitFor({ state: 'hidden' })
      await page.getByRole('link', { name: 'Friends' }).click()
      const members = page.getByRole('table', { name: 'Members' })
      await members.getByRole('link', { name: 'Linus' }).waitFor()
      await person.api.delete(`/api/contacts/${linus}`)
      await members.getByRole('link', { name: 'Linus' }).waitFor({ state: 'hidden' })
      await members.getByRole('link', { name: 'Grace' }).click()
      await page.getByRole('heading', { level: 1, name: 'Grace' }).waitFor()
      await person.api.delete(`/api/contacts/${grace}`)
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
    })
  })

  it('and their messages are written from right to left where their first letter is', async () => {
    const who = await furnished(site)
    const [name, text] = ['محمد (مدير)', 'مرحبا 1234!']
    const input = { name, phone: '+4915112345678' }
    await who.person.api.graphql('mutation($input: CreateContactInput!) { createContact(input: $input) { id } }', { input })
    const id = await sendText(who, input.phone, { text })
    await visit(site, { as: who.person, path: '/me/contacts' }, async ({ page }) => {
      expect(await endsLeft(page.getByRole('link', { name }))).toBe(true)
      await page.getByRole('link', { name }).click()
      expect(await endsLeft(page.getByRole('heading', { name, level: 1 }))).toBe(true)
      expect(await endsLeft(page.getByRole('link', { name: text }))).toBe(true)
      await page.goto(`/me/messages/${id}`)
      expect(await endsLeft(page.getByRole('main').getByText(text, { exact: true }))).toBe(true)
      await page.goto(`/me/send?${new URLSearchParams({ text })}`)
      const field = page.getByRole('textbox', { name: 'Text', exact: true })
      expect(await field.evaluate((node) => getComputedStyle(node).direction)).toBe('rtl')
      expect(await endsLeft(page.getByRole('region', { name: 'Preview' }).getByText(text))).toBe(true)
    })
  })

  it('are imported from UTF-8 only, and a file that cannot be read says so in words', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      await page.getByRole('button', { name: 'Import CSV' }).click()
      const dialog = page.getByRole('dialog', { name: 'Import CSV' })
      const give = async (buffer: Buffer) => {
        await dialog.getByLabel('CSV file').setInputFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer })
        await dialog.getByRole('button', { name: 'Start the import' }).click()
      }
      await give(Buffer.from('name;phone\nJos\u00e9;+5511912345678\n', 'latin1'))
      await dialog.getByText('This file is no text in UTF-8.').waitFor()
      await give(Buffer.from('name;phone\nJosé "Zé";+5511912345678\n'))
      await dialog.getByText('Some of this cannot be accepted.').waitFor()
      await dialog.getByText('Line 2: file: has a quote').waitFor()
      await page.goto('/me/campaigns/new')
      const field = page.getByLabel('CSV file')
      const file = { name: 'recipients.csv', mimeType: 'text/csv' }
      await field.setInputFiles({ ...file, buffer: Buffer.from('phone;name\n+5511912345678;Jos\u00e9\n', 'latin1') })
      await page.getByText('This file is no text in UTF-8.').waitFor()
      await field.setInputFiles({ ...file, buffer: Buffer.from('phone;name\n+5511912345678;José\n') })
      await page.getByText('Numbers in recipients.csv: 1').waitFor()
    })
  })

  it('are imported from a file with what is wrong in it, searched, and exported', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      await page.getByRole('button', { name: 'Import CSV' }).click()
      const dialog = page.getByRole('dialog', { name: 'Import CSV' })
      const csv = 'phone,name\n+4915112345671,Grace\n+4915112345672,Linus\n12,Nobody\n'
      await dialog.getByLabel('CSV file').setInputFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
      await dialog.getByRole('button', { name: 'Start the import' }).click()
      await dialog.getByText('2 created, 0 updated, 0 left as they were, 1 left out.').waitFor()
      await dialog.getByRole('list', { name: 'Faults' }).getByText('Line 4').waitFor()
      await page.keyboard.press('Escape')
      const table = page.getByRole('table', { name: 'Contacts' })
      await table.getByRole('link', { name: 'Linus' }).waitFor()
      await page.getByRole('searchbox', { name: 'Search contacts' }).fill('grace')
      await until(async () => (await table.getByRole('link').allTextContents()).join() === 'Grace')
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()])
      expect(file.suggestedFilename()).toBe('contacts.csv')
    })
  })

  it('that an import leaves out are counted, also those whose faults are not told', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      await page.getByRole('button', { name: 'Import CSV' }).click()
      const dialog = page.getByRole('dialog', { name: 'Import CSV' })
      const csv = `phone,name\n+4915112345671,Grace\n${'12,Nobody\n'.repeat(130)}`
      await dialog.getByLabel('CSV file').setInputFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
      await dialog.getByRole('button', { name: 'Start the import' }).click()
      await dialog.getByText('1 created, 0 updated, 0 left as they were, 130 left out.').waitFor()
      await dialog.getByText('and further lines with faults: 30').waitFor()
    })
  })
})

/** The lines that a text takes. */
async function linesOf(shown: Locator): Promise<number> {
  return await shown.evaluate((node) => {
    const range = document.createRange()
    range.selectNodeContents(node)
    return new Set([...range.getClientRects()].map(({ top }) => top)).size
  })
}

/** True if the last character of a text is drawn at the left of its first one. */
async function endsLeft(shown: Locator): Promise<boolean> {
  return await shown.evaluate((node) => {
    const text = node.firstChild as Text
    const leftOf = (at: number) => {
      const range = document.createRange()
      range.setStart(text, at)
      range.setEnd(text, at + 1)
      return range.getBoundingClientRect().left
    }
    return leftOf(text.length - 1) < leftOf(0)
  })
}
