// Proves that what belongs to one record or one list is not taken over by the next one at the same place.
import { describe, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

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
})
