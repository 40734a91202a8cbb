// Proves that a plan is ordered, paid, cancelled and resumed on the billing page, and that a team shows each role what it may see.
import { describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { openPerson, openTeam } from '../billing/rig.ts'
import { openStripeSite } from '../billing/stripe-rig.ts'
import { pay, sendEvent } from '../billing/stripe-stand-in.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { command } from '../kit/command.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { faultsOf } from './look.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('the billing page', () => {
  it('shows the use in each plan, orders one, and shows it when the operator confirmed', async () => {
    const { person } = await furnished(site)
    await command(['account', 'plan', '--email', person.email, '--plan', 'free'], site)
    await person.api.graphql('mutation { createContactGroup(input: { name: "Friends" }) { id } }')
    await visit(site, { as: person, path: '/me/billing' }, async ({ page }) => {
      const plans = page.getByRole('table', { name: 'Plans' })
      const cellsOf = (name: string) => plans.getByRole('row').filter({ hasText: name }).getByRole('cell').allTextContents()
      await plans.waitFor()
      expect(await cellsOf('Instances')).toEqual(['Instances', '1', '1', '5', '20'])
      expect(await cellsOf('Contact groups')).toEqual(['Contact groups', '1', '10', '50', 'No limit'])
      expect(await page.getByRole('button', { name: 'Choose Free' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Choose Pro' }).click()
      const dialog = page.getByRole('dialog', { name: 'Choose Pro' })
      await dialog.getByText('It costs €19 a month.').waitFor()
      expect(await faultsOf(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Order Pro' }).dblclick()
      await page.getByText('Pro is ordered. It begins when the operator confirms the payment.').waitFor()
      expect((await command(['account', 'plan', '--email', person.email, '--plan', 'pro'], site)).code).toBe(0)
      await page.reload()
      await page.getByRole('table', { name: 'Payments' }).getByText('€19.00').waitFor()
      expect(await page.getByRole('region', { name: 'Subscription' }).getByText('Pro', { exact: true }).count()).toBe(1)
      expect(await faultsOf(page)).toEqual([])
    })
  })

  it('lists what to remove when a plan is too small, cancels, and resumes', async () => {
    const person = await newPerson(site, site.databaseUrl, 'max')
    for (const name of ['Day crew', 'Night crew', 'Spare crew']) await openTeam(site, person, [], name)
    const small = await newPerson(site, site.databaseUrl, 'pro')
    await visit(site, { as: person, path: '/me/billing' }, async ({ page, expected }) => {
      expected.push(/409/)
      await page.getByRole('button', { name: 'Choose Pro' }).click()
      const dialog = page.getByRole('dialog', { name: 'Choose Pro' })
      await dialog.getByText('Teams: 3, and the plan has 2').waitFor()
      await dialog.getByRole('button', { name: 'Order Pro' }).click()
      await dialog.getByText('Your teams do not fit into this plan.').waitFor()
      await dialog.getByText(/delete 1 of Day crew, Night crew, Spare crew/).waitFor()
      const own = dialog.getByRole('list', { name: 'Teams that you own' }).getByRole('link')
      expect(await own.allTextContents()).toEqual(['Day crew', 'Night crew', 'Spare crew'])
      expect(await faultsOf(page)).toEqual([])
      await own.first().click()
      await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor()
    })
    await visit(site, { as: small, path: '/me/billing' }, async ({ page }) => {
      await page.getByRole('button', { name: 'Choose Free' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel subscription' }).click()
      const subscription = page.getByRole('region', { name: 'Subscription' })
      await subscription.getByText(/^Cancelled: it works until the period ends/).waitFor()
      await subscription.getByRole('button', { name: 'Resume subscription' }).click()
      await subscription.getByText('Active', { exact: true }).waitFor()
    })
  })

  it('of an inactive subscription says what to do, and offers no plan that the gateway refuses', async () => {
    const person = await newPerson(site, site.databaseUrl, 'pro')
    await sql(site.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [person.userId])
    await visit(site, { as: person, path: '/me/billing' }, async ({ page }) => {
      await page.getByText('Inactive: nothing is created or sent until a plan is ordered and paid.').waitFor()
      const offered = page.getByRole('table', { name: 'Plans' }).getByRole('button')
      expect(await offered.allTextContents()).toEqual(['Choose Pro', 'Choose MAX'])
    })
  })

  it('of a team shows its owner everything, an admin no buttons and no payments, and a collaborator nothing', async () => {
    const [owner, admin, other] = await Promise.all([1, 2, 3].map(() => newPerson(site, site.databaseUrl, 'max')))
    if (!owner || !admin || !other) throw new Error('three people')
    const id = await openTeam(site, owner, [
      [admin, 'admin'],
      [other, 'collaborator'],
    ])
    const path = `/t/${id}/billing`
    const { rows } = await sql(site.databaseUrl).query<{ workspaceId: string }>('select "workspaceId" from teams where id = $1', [
      id,
    ])
    const workspaceId = rows[0]?.workspaceId as string
    await connectedInstance(site.databaseUrl, { userId: owner.userId, workspaceId }, { name: 'Till', status: 'disconnected' })
    await sql(site.databaseUrl).query(`update subscriptions set status = 'past_due' where "userId" = $1`, [owner.userId])
    await visit(site, { as: owner, path }, async ({ page }) => {
      await page.getByRole('button', { name: 'Choose Pro' }).waitFor()
      await page.getByText('There is no payment yet.').waitFor()
    })
    await visit(site, { as: admin, path }, async ({ page }) => {
      await page.getByRole('table', { name: 'Plans' }).waitFor()
      expect(await page.getByRole('button', { name: /^(Choose|Cancel)/ }).count()).toBe(0)
      expect(await page.getByRole('table', { name: 'Payments' }).count()).toBe(0)
    })
    await visit(site, { as: other, path }, async ({ page }) => {
      await page.getByText('The owner and the admins of a team see its billing.').waitFor()
      // The shell leaves out the warnings about billing.
      const warnings = page.getByRole('region', { name: 'Warnings' })
      await warnings.getByText('Till is disconnected: its messages wait.').waitFor()
      expect(await warnings.getByRole('button', { name: /more$/ }).count()).toBe(0)
    })
  })

  it('leads to the payment page, and shows the plan when the payment is reported after the return', async () => {
    const paid = await openStripeSite({})
    const person = await openPerson(paid, 'free')
    await visit(paid, { as: person, path: '/me/billing' }, async ({ page, context, expected }) => {
      expected.push(/request to https:/)
      await context.route(/^https:/, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Pay here</h1>' }))
      await page.getByRole('button', { name: 'Choose MAX' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Order MAX' }).click()
      await page.getByRole('heading', { name: 'Pay here' }).waitFor()
      const session = paid.stripe.things.get(page.url().split('/').at(-1) as string)
      await page.goto('/?checkout=completed')
      await page.waitForURL('**/me/billing?checkout=completed')
      await page.getByText('Thank you. The plan changes here when the payment is confirmed.').waitFor()
      await sendEvent(paid, 'checkout.session.completed', pay(paid.stripe, session).session)
      await page.getByText('The payment is confirmed: you are on MAX.').waitFor()
      await page.goto('/billing?checkout=cancelled')
      await page.getByText('The payment was cancelled. Nothing has changed.').waitFor()
    })
  })
})
