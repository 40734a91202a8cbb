// Proves that a form that is submitted again after its answer was lost happens once, also when one has left it and come back.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

/** Breaks the connection once, after the gateway has carried out that mutation. */
async function loseAnswer(page: Page, mutation: string): Promise<void> {
  let lost = false
  await page.route('**/graphql', async (route) => {
    if (lost || !route.request().postData()?.includes(`mutation ${mutation}(`)) return await route.continue()
    lost = true
    await route.fetch()
    await route.abort('connectionreset')
  })
}

/** Submits the form, and once more after another page was shown. */
async function submitTwice(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByText('The gateway cannot be reached.').waitFor()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Live' }).click()
  await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: button, exact: true }).click()
}

describe.runIf(browserFound).concurrent('an answer that was lost', () => {
  it.each([
    ['a text that was typed', '/me/send', 'Hello'],
    ['a message of an address', '/me/send?number=%2B4915112345678&text=Hello', null],
    ['a template', '/me/send?type=template&number=%2B4915112345678', null],
  ])('sends %s once', async (_, path, typed) => {
    const { person } = await furnished(site)
    await person.api.post('/api/templates', { name: 'Greeting', type: 'text', body: 'Hello' })
    await visit(site, { as: person, path }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      await loseAnswer(page, 'SendMessage')
      if (typed) {
        await page.getByRole('textbox', { name: 'To', exact: true }).fill('+4915112345678')
        await page.getByRole('textbox', { name: 'Text', exact: true }).fill(typed)
      } else await page.getByRole('region', { name: 'Preview' }).getByText('Hello').waitFor()
      await submitTwice(page, 'Send')
      await page.getByRole('link', { name: 'Open the message' }).waitFor()
    })
    expect((await person.api.graphql('{ messages { nodes { body } } }')).body.data.messages.nodes).toEqual([{ body: 'Hello' }])
  })

  it('starts a campaign once', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/campaigns/new' }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      await loseAnswer(page, 'CreateCampaign')
      await page.getByRole('textbox', { name: 'Name' }).fill('News')
      await page.getByRole('textbox', { name: 'Text' }).fill('Hello')
      await page.getByRole('textbox', { name: 'Recipients' }).fill('+4915112345678')
      await submitTwice(page, 'Start campaign')
      await page.getByRole('heading', { level: 1, name: 'News' }).waitFor()
    })
    expect((await person.api.graphql('{ campaigns { nodes { name } } }')).body.data.campaigns.nodes).toEqual([{ name: 'News' }])
  })
})
