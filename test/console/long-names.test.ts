// Proves that a name which is one long word is broken where it does not fit, and moves nothing out of the window.
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { browserFound, furnished, visit } from './rig.ts'
import { untilRead } from './survey.ts'

const site = commons()
const name = 'W'.repeat(100)

/** By how much the page and its dialog are wider than their room. */
async function overOf(page: Page): Promise<number[]> {
  return await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('dialog[open]')].map((box) => box.scrollWidth - box.clientWidth),
  )
}

describe.runIf(browserFound)('a long name', () => {
  it('of a group, a contact, a team or a key is broken on a phone', async () => {
    const { person } = await furnished(site)
    const make = async (path: string, input: object) => (await person.api.post(path, input)).body.data.id
    const contact = await make('/api/contacts', { name, phone: '+4915112345678' })
    const group = await make('/api/contacts/groups', { name })
    await person.api.post(`/api/contacts/groups/${group}/members`, { contactIds: [contact] })
    await make('/api/api-keys', { name })
    const team = await make('/api/teams', { name })
    await visit(site, { as: person, viewport: { width: 360, height: 740 } }, async ({ page }) => {
      const open = async (path: string) => {
        await page.goto(path)
        await page.getByRole('main').getByText(name).first().waitFor()
        await untilRead(page)
      }
      for (const path of ['/me/contacts', `/me/contacts/${contact}`, '/me/campaigns/new', `/t/${team}/team`]) {
        await open(path)
        expect([path, ...(await overOf(page))]).toEqual([path, 0])
      }
      await open('/me/campaigns/new')
      await page.getByRole('searchbox', { name: 'Search contacts' }).fill('W')
      await page.getByRole('listbox').getByRole('option').click()
      await page.getByRole('list', { name: 'Contacts' }).getByRole('button').waitFor()
      expect(await overOf(page)).toEqual([0])
      await open('/me/keys')
      await page.getByRole('button', { name: `Revoke ${name}` }).click()
      expect(await overOf(page)).toEqual([0, 0])
    })
  })

  it('of a value of a template is broken on a phone', async () => {
    const { person } = await furnished(site)
    const value = 'w'.repeat(50)
    const template = { name: 'Greeting', type: 'text', body: `Hello {{custom.${value}}}` }
    const { id } = (await person.api.post('/api/templates', template)).body.data
    await visit(site, { as: person, viewport: { width: 320, height: 640 } }, async ({ page }) => {
      for (const path of [`/me/templates/${id}`, `/me/send?type=template&template=${id}`]) {
        await page.goto(path)
        await page.getByRole('textbox', { name: value }).waitFor()
        expect([path, ...(await overOf(page))]).toEqual([path, 0])
      }
    })
  })

  it('leaves the words beside it whole', async () => {
    const { person, instance } = await furnished(site)
    await sql(site.databaseUrl).query('update instances set name = $2 where id = $1', [instance.id, name])
    await person.api.post('/api/webhooks', { url: `http://127.0.0.1:9/${name.repeat(4)}`, events: ['message.sent'] })
    await person.api.post('/api/api-keys', { name })
    const linesOf = (cell: Locator) =>
      cell.evaluate((element) => {
        const text = document.createRange()
        text.selectNodeContents(element)
        return text.getClientRects().length
      })
    await visit(site, { as: person }, async ({ page }) => {
      for (const [path, word] of [
        ['/me/instances', 'Connected'],
        ['/me/keys', 'Everything'],
        ['/me/webhooks', 'Works'],
        ['/me/webhooks', 'No attempts'],
      ] as const) {
        await page.goto(path)
        const cell = page.getByRole('row').filter({ hasText: name }).getByText(word, { exact: true })
        await cell.waitFor()
        expect([word, await linesOf(cell)]).toEqual([word, 1])
      }
      // On every width.
      for (const path of ['/me/instances', '/me/keys', '/me/webhooks']) {
        await page.goto(path)
        await page.getByText(name).first().waitFor()
        for (const width of [640, 700, 760, 820, 900, 1000, 1280]) {
          await page.setViewportSize({ width, height: 800 })
          expect([path, width, ...(await overOf(page))]).toEqual([path, width, 0])
        }
      }
    })
  })
})
