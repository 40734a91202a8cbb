// Proves that an instance is made, connected, written to, logged out and deleted on its page.
import { describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

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

  it('show without a reload what other programs do: made, renamed, pairing, disconnected, deleted', async () => {
    const { person } = await furnished(site)
    const { body } = await person.api.post('/api/instances', { name: 'Tablet', provider: 'web' })
    const { id } = body.data
    const turn = (status: string, qr: string | null, lastError: string | null) =>
      sql(site.databaseUrl).query('update instances set status = $2, qr = $3, "lastError" = $4 where id = $1', [
        id,
        status,
        qr,
        lastError,
      ])
    await visit(site, { as: person, path: `/me/instances/${id}` }, async ({ page, tab }) => {
      const connection = page.getByRole('region', { name: 'Connection' })
      await connection.getByText('Not connected yet').waitFor()
      const list = await tab()
      await list.goto('/me/instances')
      const table = list.getByRole('table', { name: 'Instances' })
      await table.getByRole('row', { name: 'Tablet' }).getByText('Not connected yet').waitFor()
      await turn('pairing', 'code of the network', null)
      await connection.getByRole('img', { name: 'QR code' }).waitFor()
      await connection.getByText('Pairing', { exact: true }).first().waitFor()
      await turn('disconnected', null, 'nobody scanned the code')
      await connection.getByText('nobody scanned the code').waitFor()
      await table.getByRole('row', { name: 'Tablet' }).getByText('Disconnected').waitFor()
      await person.api.put(`/api/instances/${id}`, { name: 'Old tablet' })
      await page.getByRole('heading', { level: 1, name: 'Old tablet' }).waitFor()
      await table.getByRole('link', { name: 'Old tablet' }).waitFor()
      await person.api.delete(`/api/instances/${id}`)
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
      await table.getByRole('link', { name: 'Old tablet' }).waitFor({ state: 'detached' })
      const made = await person.api.post('/api/instances', { name: 'Watch', provider: 'sandbox' })
      expect(made.status).toBe(201)
      await table.getByRole('row', { name: 'Watch' }).waitFor()
    })
  })

  it('that the network refuses to connect can be logged out without being deleted', async () => {
    const person = await newPerson(site, site.databaseUrl)
    const { id } = await connectedInstance(site.databaseUrl, person, { status: 'disconnected' })
    await visit(site, { as: person, path: `/me/instances/${id}` }, async ({ page }) => {
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click()
      await page.getByRole('region', { name: 'Connection' }).getByText('Logged out').waitFor()
      await page.getByRole('button', { name: 'Log out' }).waitFor({ state: 'detached' })
    })
  })

  it('of WhatsApp Web keep the number for a code while one looks at the QR code', async () => {
    const person = await newPerson(site, site.databaseUrl)
    const { id } = (await person.api.post('/api/instances', { name: 'Tablet', provider: 'web' })).body.data
    await visit(site, { as: person, path: `/me/instances/${id}` }, async ({ page }) => {
      await page.getByRole('tab', { name: 'Pair by code' }).click()
      await page.getByRole('textbox', { name: 'Number of the phone' }).fill('+4915112345678')
      await page.getByRole('tab', { name: 'Scan a QR code' }).click()
      await page.getByRole('tab', { name: 'Pair by code' }).click()
      expect(await page.getByRole('textbox', { name: 'Number of the phone' }).inputValue()).toBe('+4915112345678')
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

  it('of WhatsApp Web are made with the pace and the habits of their network, which are changed later', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/instances' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByRole('button', { name: 'New instance' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Tablet')
      await dialog.getByRole('combobox', { name: 'Network' }).selectOption('WhatsApp Web')
      const shortest = dialog.getByRole('textbox', { name: 'Shortest pause' })
      await shortest.fill('9000')
      await dialog.getByRole('combobox', { name: 'Buttons' }).selectOption('As buttons, which not every app shows')
      await dialog.getByRole('checkbox', { name: 'Show that somebody is typing' }).check()
      expect(await faultsOf(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Create instance' }).click()
      await until(async () => (await shortest.getAttribute('aria-invalid')) === 'true')
      await shortest.fill('2000')
      await dialog.getByRole('button', { name: 'Create instance' }).click()
      await page.getByRole('heading', { level: 1, name: 'Tablet' }).waitFor()
      const settings = async () => {
        const { body } = await person.api.graphql('{ instances { name settings } }')
        return body.data.instances.find(({ name }: { name: string }) => name === 'Tablet').settings
      }
      const made = { pace: { minMs: 2_000, maxMs: 3_000 }, buttons: 'native', typing: true, markRead: false }
      expect(await settings()).toEqual(made)
      await page.getByRole('button', { name: 'Settings' }).click()
      expect(await shortest.inputValue()).toBe('2000')
      await dialog.getByRole('checkbox', { name: 'Mark messages as read' }).check()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await settings()).toEqual({ ...made, markRead: true })
    })
  })

  it('of the cloud take a verify token, and another one later', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/instances' }, async ({ page }) => {
      await page.getByRole('button', { name: 'New instance' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Shop')
      await dialog.getByRole('combobox', { name: 'Network' }).selectOption('WhatsApp Cloud API')
      const given = { 'Phone number ID': '123456789012345', 'WhatsApp Business Account ID': '123456789012346' }
      for (const [name, value] of Object.entries(given)) await dialog.getByRole('textbox', { name }).fill(value)
      for (const name of ['Access token', 'App secret', 'Verify token'])
        await dialog.getByLabel(name).fill(`my-${name.replace(' ', '-')}`)
      await dialog.getByRole('button', { name: 'Create instance' }).click()
      await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor()
      await page.getByText('my-Verify-token').waitFor()
      await page.getByRole('button', { name: 'Settings' }).click()
      expect(await dialog.getByRole('textbox', { name: 'Phone number ID' }).count()).toBe(0)
      await dialog.getByLabel('Verify token').fill('another-token')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('another-token').waitFor()
    })
  })

  it('show their limits of the next days with what is planned, and when they reach the one of today', async () => {
    const person = await newPerson(site, site.databaseUrl)
    const instance = await connectedInstance(site.databaseUrl, person, { ageDays: 1 })
    const who = { person, instance }
    const at = new Date(Date.now() + 1.5 * 86_400_000)
    for (let n = 0; n < 3; n++) await sendText(who, '+4915112345678', { scheduledAt: at.toISOString() })
    for (let n = 0; n < 3; n++) await sendText(who, '+4915112345678')
    await visit(site, { as: person, path: `/me/instances/${instance.id}`, timezoneId: 'Asia/Kathmandu' }, async ({ page }) => {
      const safety = page.getByRole('region', { name: 'Safety' })
      await safety.getByRole('img', { name: 'Forecast' }).waitFor()
      await safety.getByText(/^At this rate the limit of a day is reached at/).waitFor()
      await safety.getByText('As a table').click()
      const rows = safety.getByRole('table', { name: 'Forecast' }).getByRole('row')
      expect(await rows.count()).toBe(15)
      expect((await rows.nth(2).getByRole('cell').allTextContents()).slice(1)).toEqual(['New', '40', '20', '3', '0'])
      expect((await rows.nth(3).getByRole('cell').allTextContents()).slice(1)).toEqual(['Warming up', '200', '100', '0', '0'])
      const tomorrow = (await rows.nth(2).locator('time').getAttribute('datetime')) as string
      const day = { day: 'numeric', month: 'short', timeZone: 'Asia/Kathmandu' } as const
      expect(await rows.nth(2).locator('time').textContent()).toContain(new Date(tomorrow).toLocaleDateString('en-GB', day))
      expect(await faultsOf(page)).toEqual([])
    })
  })

  it('have their names beside their messages when another program has made them', async () => {
    const { person, instance } = await furnished(site)
    await visit(site, { as: person, path: '/me/messages' }, async ({ page }) => {
      await page.getByText('No messages yet').waitFor()
      const input = { name: 'Second phone', provider: 'sandbox' }
      const create = 'mutation($input: CreateInstanceInput!) { createInstance(input: $input) { id } }'
      const { id } = (await person.api.graphql(create, { input })).body.data.createInstance
      await person.api.graphql('mutation($id: ID!) { connectInstance(id: $id) { status } }', { id })
      await sendText({ person, instance: { ...instance, id } }, '+4915112345678')
      await page.getByRole('button', { name: 'Show 1 new' }).click()
      await page.getByRole('row').filter({ hasText: '+4915112345678' }).getByText('Second phone').waitFor()
    })
  })

  it('show their recommendations in the language of the reader', async () => {
    const { person, instance } = await furnished(site)
    await sql(site.databaseUrl).query('update instances set "restrictedAt" = now() where id = $1', [instance.id])
    await visit(site, { as: person, path: `/me/instances/${instance.id}`, locale: 'pt-BR' }, async ({ page }) => {
      await page.getByText('A rede restringiu esta conta').waitFor()
    })
  })
})
