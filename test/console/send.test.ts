// Proves that messages are sent from the page as they were typed, once, and that a refusal names its fields.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound).concurrent('sending', () => {
  it('marks each field that is refused with the words of the server, and keeps what was typed', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/send' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByRole('textbox', { name: 'To', exact: true }).fill('12')
      await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      const to = page.getByRole('textbox', { name: 'To', exact: true })
      await until(async () => (await to.getAttribute('aria-invalid')) === 'true')
      expect(await to.inputValue()).toBe('12')
      expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe('Hello')
      // A percent sign may be the last character that was typed.
      await page.getByRole('combobox', { name: 'Type' }).selectOption('Image')
      await page.getByRole('textbox', { name: 'Address of the file' }).fill('https://shop.example/50%')
      await page.getByRole('region', { name: 'Preview' }).getByText('50%').waitFor()
    })
  })

  it('sends once for a double click, and later for a chosen time', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/send', timezoneId: 'Asia/Kathmandu' }, async ({ page }) => {
      await page.getByRole('textbox', { name: 'To', exact: true }).fill('+4915112345678')
      await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Twice')
      await page.getByRole('button', { name: 'Send', exact: true }).dblclick()
      await page.getByRole('link', { name: 'Open the message' }).waitFor()
      await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Later')
      await page.getByRole('checkbox', { name: 'Schedule' }).check()
      const when = page.getByLabel('When (Asia/Katmandu)').or(page.getByLabel('When (Asia/Kathmandu)'))
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('Choose a date and a time.').waitFor()
      expect(await when.getAttribute('aria-invalid')).toBe('true')
      const day = new Date(Date.now() + 172_800_000).toISOString().slice(0, 10)
      await when.fill(`${day}T05:45`)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      const list = async () =>
        (await person.api.graphql('{ messages(first: 9) { nodes { body scheduledAt } } }')).body.data.messages.nodes
      await until(async () => (await list()).length >= 2)
      expect((await list()).map(({ body, scheduledAt }: Record<string, string>) => [body, scheduledAt])).toEqual([
        ['Later', `${day}T00:00:00.000Z`],
        ['Twice', null],
      ])
    })
  })

  it('carries a text over to another type, and shows what was typed again until it is cleared or sent', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/send' }, async ({ page }) => {
      const field = (name: string) => page.getByRole('textbox', { name, exact: true })
      const type = page.getByRole('combobox', { name: 'Type' })
      const comeBack = async () => {
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Live' }).click()
        await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
        await page.goBack()
        await field('To').waitFor()
      }
      const said = () => Promise.all([field('To'), field('Caption'), field('Address of the file')].map((one) => one.inputValue()))
      await page.getByRole('button', { name: 'Delivered and read' }).click()
      await field('Text').fill('Hello')
      await type.selectOption('Image')
      await field('Address of the file').fill('https://shop.example/a.png')
      await type.selectOption('Text')
      expect(await field('Text').inputValue()).toBe('Hello')
      await type.selectOption('Image')
      await comeBack()
      expect(await said()).toEqual(['+4915112345678', 'Hello', 'https://shop.example/a.png'])
      await page.getByRole('button', { name: 'Clear the form' }).click()
      await page.getByRole('combobox', { name: 'Instance' }).and(page.locator(':focus')).waitFor()
      expect([await field('To').inputValue(), await field('Text').inputValue()]).toEqual(['', ''])
      await field('To').fill('+4915112345678')
      await field('Text').fill('Sent')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('link', { name: 'Open the message' }).waitFor()
      await comeBack()
      expect(await field('To').inputValue()).toBe('')
    })
  })

  it('finds a contact by its name or number with the keys of a combobox, and takes any other number', async () => {
    const { person } = await furnished(site)
    for (const [name, phone] of [
      ['Grace Hopper', '+4915112345678'],
      ['Grace Kelly', '+4915112345679'],
    ]) {
      await person.api.post('/api/contacts', { name, phone })
    }
    await visit(site, { as: person, path: '/me/send' }, async ({ page }) => {
      const to = page.getByRole('textbox', { name: 'To', exact: true })
      const found = page.getByRole('listbox', { name: 'Contacts found' })
      const active = () => found.locator('[aria-selected=true]').textContent()
      await to.fill('grace')
      await found.getByRole('option').nth(1).waitFor()
      expect(await faultsOf(page)).toEqual([])
      await to.focus()
      await page.keyboard.press('ArrowDown')
      const first = await active()
      expect(await to.getAttribute('aria-activedescendant')).toBe(await found.locator('[aria-selected=true]').getAttribute('id'))
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      expect(await active()).toBe(first)
      await page.keyboard.press('ArrowUp')
      expect(await active()).not.toBe(first)
      await page.keyboard.press('Escape')
      await until(async () => (await found.count()) === 0)
      await page.keyboard.press('ArrowDown')
      await found.getByRole('option', { name: 'Grace Kelly' }).click()
      expect(await to.inputValue()).toBe('+4915112345679')
      await page.getByText('Grace Kelly', { exact: true }).waitFor()
      expect(await found.count()).toBe(0)

      await to.fill('1234567')
      await found.getByRole('option').nth(1).waitFor()
      await page.keyboard.press('ArrowDown')
      const chosen = (await active())?.includes('Hopper') ? '+4915112345678' : '+4915112345679'
      await page.keyboard.press('Enter')
      expect(await to.inputValue()).toBe(chosen)
      // Enter has chosen a contact, and sent nothing.
      expect(await to.getAttribute('aria-invalid')).toBeNull()

      await to.fill('+49 1511 234 5600')
      await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello')
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('link', { name: 'Open the message' }).waitFor()
      const { body } = await person.api.graphql('{ messages(first: 9) { nodes { to } } }')
      expect(body.data.messages.nodes).toEqual([{ to: '+4915112345600' }])
    })
  })

  it('shows the contacts found below the navigation of a phone', async () => {
    const { person } = await furnished(site)
    for (const n of [0, 1, 2, 3, 4]) await person.api.post('/api/contacts', { name: `Grace ${n}`, phone: `+491511234569${n}` })
    await visit(site, { as: person, path: '/me/send', viewport: { width: 390, height: 380 } }, async ({ page }) => {
      await page.getByRole('textbox', { name: 'To', exact: true }).fill('grace')
      const found = page.getByRole('listbox', { name: 'Contacts found' })
      await found.getByRole('option').nth(4).waitFor()
      const bar = page.getByRole('navigation', { name: 'Main' })
      const [list, navigation] = [await found.boundingBox(), await bar.boundingBox()]
      if (!list || !navigation) throw new Error('one of them is not shown')
      expect(list.y + list.height).toBeGreaterThan(navigation.y + 10)
      const at = { x: navigation.x + navigation.width / 2, y: navigation.y + 5 }
      expect(await bar.evaluate((nav, { x, y }) => nav.contains(document.elementFromPoint(x, y)), at)).toBe(true)
    })
  })

  it('keeps the contact that is marked when a later answer brings others before it', async () => {
    const { person } = await furnished(site)
    const add = (name: string, phone: string) => person.api.post('/api/contacts', { name, phone })
    await add('Grace Hopper', '+4915112345678')
    await visit(site, { as: person, path: '/me/send' }, async ({ page }) => {
      const to = page.getByRole('textbox', { name: 'To', exact: true })
      const options = page.getByRole('listbox', { name: 'Contacts found' }).getByRole('option')
      await to.fill('grac')
      await options.nth(0).waitFor()
      for (const n of [0, 1, 2, 3]) await add(`Grace ${n}`, `+491511234569${n}`)
      const held = Promise.withResolvers<void>()
      await page.route('**/graphql', async (route) => {
        if (route.request().postData()?.includes('"grace"')) await held.promise
        await route.continue()
      })
      await to.press('End')
      await to.press('e')
      await to.press('ArrowDown')
      expect(await options.count()).toBe(1)
      held.resolve()
      await options.nth(4).waitFor()
      expect(await page.locator('[role=option][aria-selected=true]').textContent()).toContain('Grace Hopper')
      expect(await options.first().textContent()).not.toContain('Grace Hopper')
      await to.press('Enter')
      expect(await to.inputValue()).toBe('+4915112345678')
    })
  })

  it('sends a contact that is found by its name', async () => {
    const { person } = await furnished(site)
    await person.api.post('/api/contacts', { name: 'Grace', phone: '+4915112345679' })
    await visit(site, { as: person, path: '/me/send' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByRole('combobox', { name: 'Type' }).selectOption('Contact')
      await page.getByRole('textbox', { name: 'To', exact: true }).fill('+4915112345678')
      const contact = page.getByRole('searchbox', { name: 'Contact' })
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await until(async () => (await contact.getAttribute('aria-invalid')) === 'true')
      await contact.fill('nobody')
      await page.getByText('No contact has this name or number.').first().waitFor()
      await contact.fill('gra')
      await page.getByRole('option', { name: 'Grace' }).waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      const another = page.getByRole('button', { name: 'Remove Grace' })
      await until(() => another.evaluate((button) => button === document.activeElement))
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('link', { name: 'Open the message' }).waitFor()
      const sent = await person.api.graphql('{ messages(first: 1) { nodes { type body } } }')
      expect(sent.body.data.messages.nodes).toEqual([{ type: 'contact', body: 'Grace' }])
      await another.press('Enter')
      await until(() => contact.evaluate((field) => field === document.activeElement))
    })
  })

  it('asks for the values of a template, names those that are missing, and shows what will be sent', async () => {
    const { person } = await furnished(site)
    const make = (field: string, type: string, input: object) =>
      person.api.graphql(`mutation($input: ${type}!) { ${field}(input: $input) { id } }`, { input })
    const body = 'Hello {{contact.name}}, order {{custom.order}} left {{custom.day | default: "today"}}.'
    await make('createTemplate', 'CreateTemplateInput', { name: 'Order left', type: 'text', body })
    await make('createContact', 'CreateContactInput', { name: 'Berta', phone: '+4915112345678' })
    await visit(site, { as: person, path: '/me/send' }, async ({ page }) => {
      await page.getByRole('combobox', { name: 'Type' }).selectOption('A template')
      const preview = page.getByRole('region', { name: 'Preview' })
      const missing = preview.getByRole('list', { name: 'Without a value' })
      await missing.getByText('contact.name, which only a contact with this number has').waitFor()
      await page.getByRole('textbox', { name: 'To', exact: true }).fill('+4915112345678')
      // The contact with the number has the name.
      await until(async () => (await missing.getByRole('listitem').allTextContents()).join() === 'order')
      await preview.getByText('Hello Berta, order {{custom.order}} left today.').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await page.getByRole('textbox', { name: 'order' }).fill('4711')
      await preview.getByText('Hello Berta, order 4711 left today.').waitFor()
      await preview.getByText('Afterwards 149,999 of 150,000 messages of this month are left.').waitFor()
      expect(await missing.count()).toBe(0)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('link', { name: 'Open the message' }).click()
      await page.getByRole('main').getByText('Hello Berta, order 4711 left today.').first().waitFor()
    })
  })

  it.each([
    ['Location', { Latitude: '52.5', Longitude: '13.4', 'Name of the place': 'Berlin' }],
    ['Buttons', { Title: 'Order', Description: 'Is it right?', 'Buttons, one a line': 'Yes\nNo' }],
  ] as const)('has the fields of each type: %s', async (type, fields) => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/send' }, async ({ page }) => {
      await page.getByRole('combobox', { name: 'Type' }).selectOption(type)
      await page.getByRole('textbox', { name: 'To', exact: true }).fill('+4915112345678')
      for (const [name, value] of Object.entries(fields)) await page.getByRole('textbox', { name, exact: true }).fill(value)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('link', { name: 'Open the message' }).waitFor()
    })
  })
})
