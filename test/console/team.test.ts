// Proves that a team is managed on its page: invited by mail, withdrawn, promoted, removed, renamed and deleted.
import { describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { join } from '../teams/rig.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('a team', () => {
  it('is invited to, its invitations are withdrawn, and it is renamed and deleted', async () => {
    const { person } = await furnished(site)
    const { id } = (await person.api.post('/api/teams', { name: 'Crew' })).body.data
    await visit(site, { as: person, path: `/t/${id}/team` }, async ({ page, expected }) => {
      expected.push(/400/)
      const members = page.getByRole('table', { name: 'Members' })
      await members.getByText('Owner').waitFor()
      await page.getByRole('button', { name: 'Invite' }).click()
      const dialog = page.getByRole('dialog', { name: 'Invite' })
      const email = dialog.getByRole('textbox', { name: 'Email' })
      await email.fill('nobody')
      await dialog.getByRole('button', { name: 'Send invitation' }).click()
      await until(async () => (await email.getAttribute('aria-invalid')) === 'true')
      await email.fill('ada@example.com')
      await dialog.getByRole('combobox', { name: 'Role' }).selectOption('Admin')
      await dialog.getByRole('button', { name: 'Send invitation' }).dblclick()
      const invitations = page.getByRole('table', { name: 'Invitations' })
      await invitations.getByText('ada@example.com', { exact: true }).waitFor()
      expect(await invitations.getByRole('row').count()).toBe(2)
      expect(await faultsOf(page)).toEqual([])
      await invitations.getByRole('button', { name: 'Withdraw: ada@example.com' }).click()
      await page.getByText('No invitation is open.').waitFor()
      await page.getByRole('button', { name: 'Rename team' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Night crew')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page
        .getByText(/^Night crew/)
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'Workspace' }).getByText('Night crew').waitFor()
      await page.getByRole('button', { name: 'Delete team' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete team' }).click()
      await page.waitForURL('**/me')
      expect((await person.api.get('/api/teams')).body.data).toEqual([])
    })
  })

  it('is not found any more where a member looks at it who is removed', async () => {
    const [owner, member] = [await newPerson(site, site.databaseUrl), await newPerson(site, site.databaseUrl)]
    const { id } = (await owner.api.post('/api/teams', { name: 'Crew' })).body.data
    await join(site, id, member, 'admin')
    await visit(site, { as: member, path: `/t/${id}/messages` }, async ({ page, expected }) => {
      expected.push(/404/)
      await page.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      await owner.api.delete(`/api/teams/${id}/members/${member.userId}`)
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
    })
  })

  it('shows new members and changed roles without a reload', async () => {
    const [owner, member] = [await newPerson(site, site.databaseUrl), await newPerson(site, site.databaseUrl)]
    const { id } = (await owner.api.post('/api/teams', { name: 'Crew' })).body.data
    await owner.api.post(`/api/teams/${id}/invitations`, { email: member.email, role: 'collaborator' })
    await visit(site, { as: owner, path: `/t/${id}/team` }, async ({ page }) => {
      await page.getByRole('table', { name: 'Invitations' }).getByText(member.email, { exact: true }).waitFor()
      await sql(site.databaseUrl).query(`update team_invitations set status = 'accepted' where "teamId" = $1`, [id])
      await join(site, id, member, 'collaborator')
      const row = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: member.email })
      await row.getByText('Collaborator', { exact: true }).waitFor()
      await page.getByText('No invitation is open.').waitFor()
      await owner.api.graphql(
        'mutation($teamId: ID!, $userId: ID!) { updateTeamMember(teamId: $teamId, userId: $userId, input: { role: admin }) { role } }',
        { teamId: id, userId: member.userId },
      )
      await row.getByText('Admin', { exact: true }).waitFor()
    })
  })

  it('has members who are promoted and removed, and who may not do that themselves', async () => {
    const { person } = await furnished(site)
    const { id } = (await person.api.post('/api/teams', { name: 'Crew' })).body.data
    const member = await newPerson(site, site.databaseUrl)
    await join(site, id, member, 'collaborator')
    await visit(site, { as: member, path: `/t/${id}/team` }, async ({ page }) => {
      await page.getByRole('table', { name: 'Members' }).getByText('Collaborator').waitFor()
      await page.getByRole('button', { name: 'Leave team' }).waitFor()
      expect(await page.getByRole('button', { name: /^(Invite|Remove|Make|Rename)/ }).count()).toBe(0)
    })
    await visit(site, { as: person, path: `/t/${id}/team` }, async ({ page }) => {
      const members = page.getByRole('table', { name: 'Members' })
      await members.getByRole('button', { name: /^Make admin: / }).click()
      await members.getByText('Admin', { exact: true }).waitFor()
      await members.getByRole('button', { name: /^Remove / }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
      await until(async () => (await members.getByRole('row').count()) === 2)
    })
  })
})
