// Proves that a campaign is made on its page with what will happen told before, that it moves while one looks, and that those who failed are
// found with the reason and get it again.
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

/** The sandbox delivers and reads the others at once; this one is not on its network. */
const failing = '+4915112340001'
const five = ['+4915112345671', '+4915112345672', failing, '+4915112345673', '+4915112345674']

async function counter(page: Page, name: string): Promise<string> {
  const counters = page.getByRole('region', { name: 'Progress' })
  return (await counters.locator('dl').first().locator('div', { hasText: name }).first().locator('strong').textContent()) ?? ''
}

describe.runIf(browserFound)('campaigns', () => {
  it('are made of pasted numbers, told before they start, seen to the end, and sent again to those who failed', async () => {
    const who = await furnished(site)
    await who.person.api.graphql('mutation { createSuppression(input: { phone: "+4915112345679" }) { phone } }')
    await sql(site.databaseUrl).query(
      `insert into contact_groups (id, "workspaceId", name, "updatedAt")
        select gen_random_uuid(), $1, 'Group ' || n, now() from generate_series(1, 101) n`,
      [who.person.workspaceId],
    )
    await visit(site, { as: who.person, path: '/me/campaigns' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByText('No campaigns yet').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await page.getByRole('link', { name: 'New campaign' }).click()
      await page.getByRole('heading', { level: 1, name: 'New campaign' }).waitFor()
      const groups = page.getByRole('group', { name: 'Groups' })
      await until(async () => (await groups.getByRole('checkbox').count()) === 100)
      await groups.getByRole('button', { name: 'Show more' }).click()
      await until(async () => (await groups.getByRole('checkbox').count()) === 101)
      const before = page.getByRole('region', { name: 'Before it starts' })
      await page
        .getByRole('textbox', { name: 'Recipients' })
        .fill([...five, five[0], 'not a number', '+4915112345679'].join('\n'))
      await before.getByRole('list', { name: 'Still missing' }).getByText('text: is required').waitFor()
      await page.getByRole('list', { name: 'Lines without a number' }).getByText('Line 7: not a number').waitFor()
      await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello all')
      await before.getByText('1 repeated').waitFor()
      const facts = await before.locator('dl').first().innerText()
      expect(facts.replaceAll(/\s+/g, ' ')).toContain('Distinct numbers 6 1 repeated Get a message 5')
      await before.locator('summary').click()
      await before.getByText('+4915112345679, Line 8').waitFor()
      expect(await faultsOf(page)).toEqual([])

      const start = page.getByRole('button', { name: 'Start campaign' })
      await start.click()
      const name = page.getByRole('textbox', { name: 'Name', exact: true })
      await until(async () => (await name.getAttribute('aria-invalid')) === 'true')
      await name.fill('News of May')
      await start.dblclick()
      await page.getByRole('heading', { level: 1, name: 'News of May' }).waitFor()

      // Without a reload: the counters, the reason and the rows.
      await until(async () => (await counter(page, 'Read')) === '4')
      await until(async () => (await counter(page, 'Failed')) === '1')
      await page.getByRole('region', { name: 'Progress' }).getByRole('status').getByText('Completed').waitFor()
      expect(await page.getByRole('progressbar', { name: 'Progress' }).getAttribute('aria-valuenow')).toBe('100')
      const reasons = page.getByRole('list', { name: 'Failure reasons' })
      await reasons.getByText('The number is not on the network.').waitFor()
      await page.getByRole('button', { name: 'Show recipients: The number is not on the network.' }).click()
      const table = page.getByRole('table', { name: 'Recipients' })
      await until(async () => (await table.getByRole('row').count()) === 2)
      expect(await table.getByRole('row').nth(1).innerText()).toContain(failing)
      await page.getByRole('combobox', { name: 'Status' }).selectOption('')
      await until(async () => (await table.getByRole('row').count()) === 7)
      await page.getByText('As a table').click()
      await page.getByRole('table', { name: 'Messages over time' }).waitFor()
      expect(await faultsOf(page)).toEqual([])

      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()])
      expect(readFileSync(await file.path(), 'utf8')).toContain(`'${failing}`)

      await page.getByRole('link', { name: 'Send again to 1 failed' }).click()
      await page.getByRole('heading', { level: 1, name: 'New campaign' }).waitFor()
      const pasted = page.getByRole('textbox', { name: 'Recipients' })
      expect(await pasted.inputValue()).toBe(failing)
      expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe('Hello all')
      await pasted.fill('+4915112345675')
      await before.getByText('Get a message').waitFor()
      await start.click()
      await page.getByRole('heading', { level: 1, name: 'News of May, again' }).waitFor()
      await until(async () => (await counter(page, 'Read')) === '1')
      const { body } = await who.person.api.graphql('{ campaigns(first: 9) { totalCount } }')
      expect(body.data.campaigns.totalCount).toBe(2)
    })
  })

  it('are paused, changed, resumed and cancelled, each with what will happen, and lead from their messages', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/campaigns/new' }, async ({ page }) => {
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Slow news')
      await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello')
      const rows = ['number;code', ...five.filter((to) => to !== failing).map((to) => `${to};x`), 'nobody;y'].join('\n')
      const csv = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) }
      await page.getByLabel('CSV file').setInputFiles(csv)
      await page.getByText('Numbers in people.csv: 4').waitFor()
      await page.getByText('people.csv, line 6: nobody, y').waitFor()
      await page.getByRole('textbox', { name: 'Messages a minute' }).fill('1')
      const before = page.getByRole('region', { name: 'Before it starts' })
      await page.getByRole('checkbox', { name: 'Schedule' }).check()
      await before.getByText('Choose a date and a time.').waitFor()
      await page.getByRole('button', { name: 'Start campaign' }).click()
      await page
        .getByLabel(/^Start \(/)
        .and(page.locator('[aria-invalid]'))
        .waitFor()
      await page.getByRole('checkbox', { name: 'Schedule' }).uncheck()
      await before.getByText('Last message').waitFor()
      await page.getByRole('button', { name: 'Start campaign' }).click()
      await page.getByRole('heading', { level: 1, name: 'Slow news' }).waitFor()
      const status = page.getByRole('region', { name: 'Progress' }).getByRole('status')
      await status.getByText('Running').waitFor()
      await until(async () => (await counter(page, 'Read')) === '1')

      await page.getByRole('button', { name: 'Pause' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('until you resume: 3.').waitFor()
      await dialog.getByRole('button', { name: 'Pause' }).click()
      await status.getByText('Paused').waitFor()
      await page.getByRole('button', { name: 'Edit' }).click()
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Slower news')
      await dialog.getByRole('checkbox', { name: 'Quiet hours' }).check()
      expect(await faultsOf(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { level: 1, name: 'Slower news' }).waitFor()
      await page.getByText('21:00 to 08:00').waitFor()
      await page.getByRole('button', { name: 'Resume' }).click()
      await dialog.getByRole('button', { name: 'Resume' }).click()
      await status.getByText('Running').waitFor()

      const table = page.getByRole('table', { name: 'Recipients' })
      await table.getByRole('link', { name: 'Open' }).click()
      await page.getByRole('link', { name: 'Slower news' }).click()
      await page.getByRole('button', { name: 'Cancel campaign' }).click()
      await dialog.getByText('This cannot be undone.').waitFor()
      await dialog.getByRole('button', { name: 'Cancel campaign' }).click()
      await status.getByText('Cancelled').waitFor()
      await until(async () => (await counter(page, 'Cancelled')) === '3')

      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Campaigns' }).click()
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Running')
      await page.getByText('No campaign has this status.').waitFor()
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Cancelled')
      await page.getByRole('table', { name: 'Campaigns' }).getByRole('link', { name: 'Slower news' }).waitFor()
    })
  })

  it('name the template of their messages, until it is deleted', async () => {
    const { person, instance } = await furnished(site)
    const template = (await person.api.post('/api/templates', { name: 'Greeting', type: 'text', body: 'Hello' })).body.data.id
    const input = { instanceId: instance.id, name: 'News', templateId: template, recipients: [{ to: five[0] }] }
    const { id } = (await person.api.post('/api/campaigns', input)).body.data
    await visit(site, { as: person, path: `/me/campaigns/${id}` }, async ({ page }) => {
      await page.getByRole('region', { name: 'Progress' }).getByRole('link', { name: 'Greeting' }).click()
      await page.getByRole('heading', { level: 1, name: 'Greeting' }).waitFor()
      await person.api.delete(`/api/templates/${template}`)
      await page.goBack()
      await page.getByRole('region', { name: 'Progress' }).getByText('Not found').waitFor()
    })
  })

  it('keep what was typed while one looks at another page', async () => {
    const { person } = await furnished(site)
    const make = (path: string, input: object) => person.api.post(`/api/${path}`, input)
    await make('contacts', { name: 'Ada', phone: '+4915112345675' })
    await make('contacts/groups', { name: 'Friends' })
    await visit(site, { as: person, path: '/me/campaigns/new' }, async ({ page }) => {
      const field = (name: string) => page.getByRole('textbox', { name, exact: true })
      await field('Name').fill('News')
      await page.getByRole('combobox', { name: 'Type' }).selectOption('Image')
      await field('Caption').fill('Hello')
      await field('Recipients').fill('+4915112345671')
      await page.getByRole('checkbox', { name: 'Friends' }).check()
      const csv = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from('+4915112345672\n') }
      await page.getByLabel('CSV file').setInputFiles(csv)
      await page.getByRole('searchbox', { name: 'Search contacts' }).fill('ada')
      await page.getByRole('option', { name: 'Ada' }).click()
      for (const name of ['Schedule', 'Quiet hours']) await page.getByRole('checkbox', { name }).check()
      await page.getByLabel(/^Start \(/).fill('2027-01-01T05:45')
      await page.getByLabel('Quiet from').fill('20:15')
      const said = () =>
        page.locator('form').evaluate((form: HTMLFormElement) => [...new FormData(form)].filter(([, value]) => value !== ''))
      const before = await said()
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Live' }).click()
      await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
      await page.goBack()
      await page.getByRole('checkbox', { name: 'Friends' }).waitFor()
      expect(await said()).toEqual(before)
      await page.getByText('Numbers in people.csv: 1').waitFor()
      await page.getByRole('button', { name: 'Remove Ada' }).waitFor()
    })
  })

  it('are not found where they are those of another workspace', async () => {
    const [one, other] = [await furnished(site), await furnished(site)]
    const input = { instanceId: one.instance.id, name: 'Mine', type: 'text', text: 'x', recipients: [{ to: five[0] }] }
    const { body } = await one.person.api.post('/api/campaigns', input)
    await visit(site, { as: other.person, path: `/me/campaigns/${body.data.id}` }, async ({ page }) => {
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
      await page.goto(`/me/campaigns/new?again=${body.data.id}`)
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
    })
  })
})
