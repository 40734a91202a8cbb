// Proves that what is pressed again after its answer was lost happens once, of a form also when one has left it and come back.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
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

/** Presses the button, and again once the answer was lost. */
async function pressTwice(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.getByText('The gateway cannot be reached.').waitFor()
  await page.getByRole('button', { name: button, exact: true }).click()
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

  it('of a gateway that never answers ends a wait for a secret after a minute', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/keys' }, async ({ page, expected }) => {
      expected.push(/graphql/, /ERR_ABORTED/)
      await page.clock.install()
      const { promise: asked, resolve } = Promise.withResolvers<void>()
      await page.route('**/graphql', async (route) => {
        if (route.request().postData()?.includes('mutation CreateKey(')) resolve()
        else await route.continue()
      })
      await page.getByRole('button', { name: 'New key' }).click()
      const dialog = page.getByRole('dialog', { name: 'New key' })
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Shop')
      await dialog.getByRole('button', { name: 'Create key' }).click()
      await asked
      await page.clock.fastForward('01:01')
      await dialog.getByText('The gateway cannot be reached.').waitFor()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })
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

  it('makes the key of the first steps once, and shows it', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me' }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      await loseAnswer(page, 'CreateFirstKey')
      await pressTwice(page, 'Put a key in')
      await page.getByText(/x-api-key: svc_live_/).waitFor()
    })
    const { apiKeys } = (await person.api.graphql('{ apiKeys { name } }')).body.data
    expect(apiKeys.filter(({ name }: { name: string }) => name === 'First steps')).toHaveLength(1)
  })

  it('makes a team once, and another one under another name', async () => {
    const { person } = await furnished(site)
    const names = async () => (await person.api.graphql('{ teams { name } }')).body.data.teams
    await visit(site, { as: person, path: '/me' }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      const open = async (name: string) => {
        await page.getByRole('button', { name: 'Workspace' }).click()
        await page.getByRole('menuitem', { name: 'New team' }).click()
        await page.getByRole('textbox', { name: 'Name of the team' }).fill(name)
      }
      await loseAnswer(page, 'CreateTeam')
      await open('Crew')
      await pressTwice(page, 'Create team')
      await page.waitForURL('**/t/*')
      expect(await names()).toEqual([{ name: 'Crew' }])
      await open('Night crew')
      await page.getByRole('button', { name: 'Create team' }).click()
      await page.getByRole('button', { name: 'Workspace' }).getByText('Night crew').waitFor()
    })
    expect(await names()).toEqual([{ name: 'Crew' }, { name: 'Night crew' }])
  })

  it.each([
    ['an invitation', 'team', 'Invite', 'Invite', 'Email', 'ada@example.com', 'Send invitation'],
    ['the first key', 'keys', 'CreateTeamKey', 'New key', 'Name', 'The shop', 'Create key'],
  ])('makes %s once, and shows it before it is pressed again, too', async (_, path, mutation, open, field, name, submit) => {
    const { person } = await furnished(site)
    const { id } = (await person.api.post('/api/teams', { name: 'Crew' })).body.data
    await visit(site, { as: person, path: `/t/${id}/${path}` }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      await loseAnswer(page, mutation)
      const row = page.getByRole('table').getByText(name)
      await page.getByRole('button', { name: open }).click()
      await page.getByRole('textbox', { name: field }).fill(name)
      await page.getByRole('button', { name: submit }).click()
      await page.getByText('The gateway cannot be reached.').waitFor()
      await row.waitFor()
      await page.getByRole('button', { name: submit }).click()
      await page.getByRole('button', { name: submit }).waitFor({ state: 'detached' })
      await row.waitFor()
      expect(await row.count()).toBe(1)
    })
  })

  it('makes a group once, and shows it', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      await loseAnswer(page, 'CreateGroup')
      const groups = page.getByRole('region', { name: 'Groups' })
      for (const name of ['Friends', 'Family']) {
        await groups.getByRole('textbox').fill(name)
        if (name === 'Friends') await pressTwice(page, 'Add')
        else await groups.getByRole('button', { name: 'Add' }).click()
        await groups.getByRole('link', { name }).waitFor()
      }
      expect(await groups.getByRole('link').count()).toBe(2)
    })
  })

  it('imports contacts once, and says what the import did', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      await loseAnswer(page, 'StartImport')
      await page.getByRole('button', { name: 'Import CSV' }).click()
      const buffer = Buffer.from('phone,name\n+4915112345678,Ada\n')
      await page.getByLabel('CSV file').setInputFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer })
      await pressTwice(page, 'Start the import')
      await page.getByText('1 created, 0 updated, 0 left as they were, 0 left out.').waitFor()
    })
  })

  it('lets a recipient of the sandbox write once, and again when asked to', async () => {
    const { person, instance } = await furnished(site)
    const texts = async () => (await person.api.graphql('{ messages { nodes { body } } }')).body.data.messages.nodes
    await visit(site, { as: person, path: `/me/instances/${instance.id}` }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_RESET/)
      await loseAnswer(page, 'ReceiveInSandbox')
      const phone = page.getByRole('region', { name: 'Write to this instance' })
      await phone.getByRole('textbox', { name: 'From' }).fill('+4915112345678')
      await phone.getByRole('textbox', { name: 'Text' }).fill('Hello')
      await pressTwice(page, 'Receive')
      await phone.getByRole('link').waitFor()
      expect(await texts()).toEqual([{ body: 'Hello' }])
      await phone.getByRole('button', { name: 'Receive' }).click()
      await until(async () => (await texts()).length === 2)
    })
  })
})
