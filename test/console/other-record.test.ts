// Proves that what belongs to one record or one list is not taken over by the next one at the same place.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, pausedLog, sendText, visit } from './rig.ts'

const site = commons()
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()

describe.runIf(browserFound).concurrent('the next record or list', () => {
  it('has none of the changes that were typed for the record before', async () => {
    const { person } = await furnished(site)
    const made = async (name: string, phone: string) => (await person.api.post('/api/contacts', { name, phone })).body.data.id
    const [ada, bob] = [await made('Ada', '+4915112345671'), await made('Bob', '+4915112345672')]
    await visit(site, { as: person, path: `/me/contacts/${bob}` }, async ({ page }) => {
      const [heading, name] = [page.getByRole('heading', { level: 1 }), page.getByRole('textbox', { name: 'Name' })]
      const goTo = async (id: string, title: string) => {
        await page.keyboard.press('Control+k')
        await page.getByRole('textbox', { name: 'Find' }).fill(id)
        await page.getByRole('option').first().waitFor()
        await page.keyboard.press('Enter')
        await heading.getByText(title).waitFor()
      }
      await heading.getByText('Bob').waitFor()
      await goTo(ada, 'Ada')
      await name.fill('Ada Lovelace')
      await goTo(bob, 'Bob')
      await until(async () => (await name.inputValue()) === 'Bob')
    })
  })

  it('cancels no message that was selected in the list before, and is not in sight', async () => {
    const who = await furnished(site)
    const [first, second] = ['+4915112345671', '+4915112345672']
    for (const to of [first, second]) await sendText(who, to, { scheduledAt: tomorrow() })
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page }) => {
      const cancel = page.getByRole('button', { name: 'Cancel selected' })
      await page.getByRole('checkbox', { name: `Select ${first}` }).click()
      await cancel.waitFor()
      await page.getByRole('textbox', { name: 'Number' }).fill(second)
      await page.getByRole('link', { name: first }).waitFor({ state: 'detached' })
      await page.getByRole('checkbox', { name: `Select ${second}` }).click()
      await cancel.click()
      await page.getByRole('row').filter({ hasText: second }).getByText('Cancelled').waitFor()
    })
    const { messages } = (await who.person.api.graphql('{ messages { nodes { to status } } }')).body.data
    expect(messages.nodes).toContainEqual({ to: first, status: 'queued' })
  })

  it('shows no rows that were read before the reader left it', async () => {
    const who = await furnished(site)
    const ids: string[] = []
    for (let n = 0; n < 52; n++) ids.push(await sendText(who, `+49151123456${10 + n}`, { scheduledAt: tomorrow() }))
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page }) => {
      const rows = page.getByRole('table', { name: 'Messages' }).locator('tbody tr')
      const status = page.getByRole('combobox', { name: 'Status' })
      await page.getByRole('button', { name: 'Show more' }).click()
      await rows.nth(51).waitFor()
      await status.selectOption('Cancelled')
      await rows.first().waitFor({ state: 'detached' })
      await who.person.api.graphql('mutation($id: ID!) { cancelMessage(id: $id) { id } }', { id: ids[0] })
      await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
      await status.selectOption('')
      await rows.nth(49).waitFor()
      await page.getByRole('button', { name: 'Show more' }).click()
      await rows.nth(51).getByText('Cancelled').waitFor()
    })
  })

  it('does not show the failure of the list before', async () => {
    const who = await furnished(site)
    for (let n = 0; n < 51; n++) await sendText(who, `+49151123456${10 + n}`, { scheduledAt: tomorrow() })
    await visit(site, { as: who.person, path: '/me/messages' }, async ({ page, expected }) => {
      expected.push(/500/)
      await page.route('**/graphql', async (route) => {
        const { query = '', variables } = route.request().postDataJSON() ?? {}
        if (!query.includes('query Messages(') || !variables.after) return await route.continue()
        const errors = [{ message: 'broken', extensions: { code: 'INTERNAL_ERROR' } }]
        await route.fulfill({ status: 500, json: { errors } })
      })
      await page.getByRole('button', { name: 'Show more' }).click()
      await page.getByRole('alert').waitFor()
      await page.getByRole('combobox', { name: 'Status' }).selectOption('Cancelled')
      await page.getByText('No message').first().waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    })
  })

  it('has no name of a filter that was removed', async () => {
    const who = await furnished(site)
    const { id } = (await who.person.api.post('/api/contacts', { name: 'Grace', phone: '+4915112345678' })).body.data
    await visit(site, { as: who.person, path: `/me/messages?contact=${id}&text=offer` }, async ({ page }) => {
      const chips = page.getByRole('list', { name: 'Chosen filters' }).getByRole('button')
      await page.getByRole('button', { name: 'Remove filter Contact: Grace' }).click()
      await page.waitForURL('**/me/messages?text=offer')
      await until(async () => (await chips.count()) === 1)
    })
  })

  it('has the search of its address, and not the one before', async () => {
    const { person } = await furnished(site)
    for (const [n, name] of ['Ada', 'Bob'].entries()) await person.api.post('/api/contacts', { name, phone: `+4915112345${n}00` })
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      const search = page.getByRole('searchbox', { name: 'Search contacts' })
      const rows = page.getByRole('table', { name: 'Contacts' }).locator('tbody tr')
      await rows.nth(1).waitFor()
      await search.fill('ada')
      await until(async () => (await rows.count()) === 1)
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Contacts' }).click()
      await rows.nth(1).waitFor()
      expect(await search.inputValue()).toBe('')
    })
  })

  it('has no events of the type that was chosen before', async () => {
    const who = await furnished(site)
    await visit(site, { as: who.person, path: '/me/live' }, async ({ page }) => {
      const log = await pausedLog(page, who)
      await sendText(who, '+4915112345672', { scheduledAt: tomorrow() })
      await page.getByText('1 wait').waitFor()
      await page.getByRole('combobox', { name: 'Type of event' }).selectOption('Message read')
      await until(async () => (await log.getByText(/^Message /).allTextContents()).join() === 'Message read')
      await page.getByRole('button', { name: 'Resume' }).click()
      expect(await log.getByText('+4915112345672').count()).toBe(0)
    })
  })
})
