// Proves that a list of which further pages are shown stays whole and current, while rows are added and change.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openReceiver } from './receiver.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound).concurrent('a list with further pages', () => {
  it('has no gap after new rows came, and shows a change of a row on each page', async () => {
    const { person } = await furnished(site)
    const { url } = await openReceiver()
    const input = { url, events: ['instance_connected'] }
    const made = await person.api.graphql('mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }', {
      input,
    })
    const { id } = made.body.data.createWebhook
    const db = sql(site.databaseUrl)
    /** Deliveries whose error is their number, the first of them the newest. */
    const add = (from: number, to: number) =>
      db.query(
        `insert into webhook_deliveries (id, "endpointId", "eventId", type, payload, status, attempts, "attemptsLeft", error, "createdAt")
         select gen_random_uuid(), $1, gen_random_uuid(), 'instance.connected', '{}', 'failed', 5, 0, 'no ' || n, now() - make_interval(secs => n)
         from generate_series($2::int, $3::int) n`,
        [id, from, to],
      )
    await add(1_000, 1_119)
    await visit(site, { as: person, path: `/me/webhooks/${id}` }, async ({ page }) => {
      const table = page.getByRole('table', { name: 'Deliveries' })
      const shown = async () => (await table.innerText()).match(/no \d+/g) ?? []
      await until(async () => (await shown()).length === 50)
      await page.getByRole('button', { name: 'Show more' }).click()
      await until(async () => (await shown()).length === 100)
      await add(900, 909)
      await table.getByText('no 900').waitFor()
      const whole = [
        ...Array.from({ length: 10 }, (_, n) => `no ${900 + n}`),
        ...Array.from({ length: 90 }, (_, n) => `no ${1_000 + n}`),
      ]
      await until(async () => (await shown()).join() === whole.join())
      await db.query(
        `update webhook_deliveries set status = 'delivered', error = null, "responseCode" = 204 where "endpointId" = $1 and error = 'no 1080'`,
        [id],
      )
      await table.getByText('204').waitFor()
      await page.getByRole('button', { name: 'Show more' }).click()
      await table.getByText('no 1119').waitFor()
      expect(new Set(await shown()).size).toBe(129)
    })
  })

  it('of groups leads to each of them, and offers each to a contact', async () => {
    const { person } = await furnished(site)
    const { body } = await person.api.post('/api/contacts', { name: 'Ada', phone: '+4915112345678' })
    await sql(site.databaseUrl).query(
      `insert into contact_groups (id, "workspaceId", name, "createdAt", "updatedAt")
       select gen_random_uuid(), $1, 'Group ' || n, now() - make_interval(secs => n), now() from generate_series(1, 101) n`,
      [person.workspaceId],
    )
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      const groups = page.getByRole('region', { name: 'Groups' })
      await groups.getByRole('button', { name: 'Show more' }).click()
      await groups.getByRole('link', { name: 'Group 101' }).waitFor()
      await page.goto(`/me/contacts/${body.data.id}`)
      const choice = groups.getByRole('combobox', { name: 'Add to the group' })
      await choice.selectOption('Group 2')
      await groups.getByRole('button', { name: 'Show more' }).click()
      await until(async () => (await choice.getByRole('option').count()) === 101)
      expect(await choice.locator('option:checked').innerText()).toBe('Group 2')
      await choice.selectOption('Group 101')
      await groups.getByRole('button', { name: 'Add' }).click()
      await groups.getByRole('link', { name: 'Group 101' }).waitFor()
    })
  })

  it('of campaigns offers each as a filter of messages', async () => {
    const { person, instance } = await furnished(site)
    await sql(site.databaseUrl).query(
      `insert into campaigns (id, "workspaceId", "userId", "instanceId", name, type, body, status, "recipientsCount", "createdAt", "updatedAt")
       select gen_random_uuid(), $1, $2, $3, 'News ' || n, 'text', 'Hello', 'completed', 0, now() - make_interval(secs => n), now()
       from generate_series(1, 51) n`,
      [person.workspaceId, person.userId, instance.id],
    )
    await visit(site, { as: person, path: '/me/messages' }, async ({ page }) => {
      await page.getByRole('button', { name: 'More filters' }).click()
      const dialog = page.getByRole('dialog', { name: 'More filters' })
      const choice = dialog.getByRole('combobox', { name: 'Campaign' })
      await choice.selectOption('News 2')
      await dialog.getByRole('button', { name: 'Show more' }).click()
      await until(async () => (await choice.getByRole('option').count()) === 52)
      expect(await choice.locator('option:checked').innerText()).toBe('News 2')
      await choice.selectOption('News 51')
      await dialog.getByRole('button', { name: 'Show messages' }).click()
      await page.getByRole('button', { name: 'Remove filter Campaign: News 51' }).waitFor()
    })
  })

  it('shows the end of a campaign in all of its recipients', async () => {
    const { person, instance } = await furnished(site)
    const recipients = Array.from({ length: 60 }, (_, n) => ({ to: `+49151200000${10 + n}` }))
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const input = { instanceId: instance.id, name: 'News', type: 'text', text: 'Hello', recipients, scheduledAt }
    const { body } = await person.api.post('/api/campaigns', input)
    await visit(site, { as: person, path: `/me/campaigns/${body.data.id}` }, async ({ page }) => {
      const rows = page.getByRole('table', { name: 'Recipients' }).getByRole('row')
      await until(async () => (await rows.count()) === 51)
      await page.getByRole('button', { name: 'Show more' }).click()
      await until(async () => (await rows.count()) === 61)
      await person.api.graphql('mutation($id: ID!) { cancelCampaign(id: $id) { id } }', { id: body.data.id })
      await until(async () => (await rows.filter({ hasText: 'Cancelled' }).count()) === 60)
    })
  })
})
