// Proves that the pages of a team offer a collaborator no button for what only those who manage it may do.
import { describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { openTeam } from '../billing/rig.ts'
import { command } from '../kit/command.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { openReceiver } from './receiver.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('a collaborator', () => {
  it('of a team that may not send is told so, and whom to ask', async () => {
    const [owner, member] = [await newPerson(site, site.databaseUrl, 'pro'), await newPerson(site, site.databaseUrl)]
    const team = await openTeam(site, owner, [[member, 'collaborator']])
    await command(['account', 'suspend', '--email', owner.email], site)
    await visit(site, { as: member, path: `/t/${team}` }, async ({ page }) => {
      const notice = page.getByRole('link', { name: 'The subscription of this team is not active: nothing is created or sent.' })
      expect(await notice.textContent()).toMatch(/Ask its owner, Ada\.$/)
      await notice.click()
      await page.getByRole('table', { name: 'Members' }).getByText(owner.email).waitFor()
      await command(['account', 'resume', '--email', owner.email], site)
      await page.getByRole('navigation').getByRole('link').first().click()
      await notice.waitFor({ state: 'detached' })
    })
  })

  it('sees the instances, endpoints and deliveries of a team without the buttons of those who manage them', async () => {
    const { person } = await furnished(site)
    const member = await newPerson(site, site.databaseUrl)
    const team = (await person.api.post('/api/teams', { name: 'Crew' })).body.data.id
    const add = `insert into team_members ("teamId", "userId", role) values ($1, $2, 'collaborator')`
    await sql(site.databaseUrl).query(add, [team, member.userId])
    const make = async (mutation: string): Promise<string> =>
      (await person.inTeam(team).graphql(`mutation { made: ${mutation} { id } }`)).body.data.made.id
    const instance = await make('createInstance(input: { name: "Team phone", provider: sandbox })')
    const { url } = await openReceiver()
    const endpoint = await make(`createWebhook(input: { url: "${url}", events: [instance_connected] })`)
    const delivery = await make(`testWebhook(id: "${endpoint}")`)
    const shown = [
      ['instances', 'Instances', []],
      [`instances/${instance}`, 'Team phone', ['Connect', 'Receive']],
      ['webhooks', 'Webhooks', []],
      [`webhooks/${endpoint}`, url, []],
      [`webhooks/${endpoint}/deliveries/${delivery}`, 'Instance connected', []],
    ] as const
    await visit(site, { as: member }, async ({ page, expected }) => {
      expected.push(/403/)
      for (const [path, name, buttons] of shown) {
        await page.goto(`/t/${team}/${path}`)
        await page.getByRole('heading', { level: 1, name }).waitFor()
        // The buttons come with the rows.
        if (path.endsWith(endpoint)) await page.getByRole('cell', { name: 'Instance connected (test)' }).waitFor()
        const offered = await page.getByRole('main').getByRole('button').allInnerTexts()
        expect([path, ...offered.filter((button) => button !== 'Copy')]).toEqual([path, ...buttons])
      }
    })
    await visit(site, { as: person, path: `/t/${team}/instances/${instance}` }, async ({ page }) => {
      await page.getByRole('button', { name: 'Delete instance' }).waitFor()
    })
  })

  it('is led to the pages that have something for them, and told by the others who sees them', async () => {
    const [owner, member] = [await newPerson(site, site.databaseUrl, 'pro'), await newPerson(site, site.databaseUrl)]
    const team = await openTeam(site, owner, [[member, 'collaborator']])
    await visit(site, { as: member }, async ({ page }) => {
      for (const name of ['keys', 'usage', 'billing']) {
        await page.goto(`/t/${team}/${name}`)
        await page.getByText(/^The owner and the admins of a team see its (API keys|usage|billing)\.$/).waitFor()
      }
      expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()).toEqual(
        ['Home', 'Messages', 'Send', 'Live', 'Instances', 'Campaigns', 'Contacts', 'Templates', 'Do not contact'].concat([
          'Webhooks',
          'Events',
          'Team',
        ]),
      )
      await page.keyboard.press('Control+k')
      await page.getByRole('textbox', { name: 'Find' }).fill('e')
      await page.getByRole('option', { name: 'Events' }).waitFor()
      expect(await page.getByRole('option', { name: /^(API keys|Usage)$/ }).count()).toBe(0)
    })
  })
})
