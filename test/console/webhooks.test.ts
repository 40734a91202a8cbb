// Proves that an endpoint is made on its page, that a failed delivery is found with its reason, and that it is delivered again.
import type { Route } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { openReceiver } from './receiver.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()

describe.runIf(browserFound)('webhooks', () => {
  it('are made with a secret that is shown once, tested, explained when they fail, and delivered again', async () => {
    const who = await furnished(site)
    const receiver = await openReceiver()
    // In one line, as most answers are.
    receiver.answer = 'not today '.repeat(40)
    await visit(site, { as: who.person, path: '/me/webhooks' }, async ({ page, expected }) => {
      expected.push(/400/)
      await page.getByText('No endpoints yet').waitFor()
      await page.getByRole('button', { name: 'New endpoint' }).click()
      const dialog = page.getByRole('dialog', { name: 'New endpoint' })
      const url = dialog.getByRole('textbox', { name: 'URL' })
      await url.fill('nowhere')
      await dialog.getByRole('button', { name: 'Create endpoint' }).click()
      await until(async () => (await url.getAttribute('aria-invalid')) === 'true')
      await url.fill(receiver.url)
      await dialog.getByRole('button', { name: 'Create endpoint' }).dblclick()
      const secret = await page.getByRole('textbox', { name: 'Signing secret' }).inputValue()
      await page.getByRole('button', { name: 'Done' }).click()

      await page.getByRole('table', { name: 'Endpoints' }).getByRole('link', { name: receiver.url }).click()
      await page.getByRole('heading', { level: 1, name: receiver.url }).waitFor()
      await page.getByRole('button', { name: 'Send test event' }).click()
      const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1)
      await row.getByText('500').waitFor()
      const [first] = receiver.requests
      expect(new Webhook(secret).verify(first?.body ?? '', first?.headers ?? {})).toMatchObject({ status: 'sent' })

      expect(await faultsOf(page)).toEqual([])
      await row.getByRole('link').click()
      await page.getByRole('list', { name: 'Attempts' }).getByText('not today').first().waitFor()
      expect(await faultsOf(page)).toEqual([])
      receiver.status = 204
      await page.getByRole('button', { name: 'Redeliver' }).click()
      await page.getByRole('region', { name: 'Delivery', exact: true }).getByText('Delivered').waitFor()
      await until(async () => (await page.getByRole('list', { name: 'Attempts' }).getByRole('listitem').count()) >= 2)
    })
  })

  it('that fail say since when beside that on a phone', async () => {
    const { person } = await furnished(site)
    const create = 'mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }'
    const input = { url: (await openReceiver()).url, events: ['message_sent'] }
    const { body } = await person.api.graphql(create, { input })
    const fail = 'update webhook_endpoints set "failingSince" = now() where id = $1'
    await sql(site.databaseUrl).query(fail, [body.data.createWebhook.id])
    await visit(site, { as: person, path: '/me/webhooks', viewport: { width: 360, height: 740 } }, async ({ page }) => {
      const cell = page.getByRole('table', { name: 'Endpoints' }).getByRole('cell', { name: 'Every attempt has failed since' })
      const [whole, time] = [await cell.boundingBox(), await cell.getByRole('time').boundingBox()]
      // The first third is the name of the column.
      expect(time?.x).toBeGreaterThan((whole?.x ?? 0) + (whole?.width ?? 0) / 3)
    })
  })

  it('turn disabled in their list while one looks', async () => {
    const who = await furnished(site)
    const { url } = await openReceiver()
    const { body } = await who.person.api.graphql(
      'mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }',
      { input: { url, events: ['message_sent'] } },
    )
    await visit(site, { as: who.person, path: '/me/webhooks' }, async ({ page }) => {
      const row = page.getByRole('table', { name: 'Endpoints' }).getByRole('row', { name: url })
      await row.waitFor()
      expect(await row.getByText('Disabled').count()).toBe(0)
      const disable = 'mutation($id: ID!) { updateWebhook(id: $id, input: { enabled: false }) { id } }'
      await who.person.api.graphql(disable, { id: body.data.createWebhook.id })
      await row.getByText('Disabled: by hand').waitFor()
    })
  })

  it('say why one is not there while it is asked for again, and show it once it is', async () => {
    const who = await furnished(site)
    const { url } = await openReceiver()
    const create = 'mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }'
    const { body } = await who.person.api.graphql(create, { input: { url, events: ['message_sent'] } })
    await visit(site, { as: who.person, path: '/me' }, async ({ page, expected }) => {
      expected.push(/ERR_CONNECTION_REFUSED/)
      const held: Route[] = []
      let asked = 0
      await page.route('**/graphql', async (route) => {
        if (!route.request().postData()?.includes('query Endpoint(')) return await route.continue()
        if (asked++ === 0) await route.abort('connectionrefused')
        else held.push(route)
      })
      await page.goto(`${site.url}/me/webhooks/${body.data.createWebhook.id}`)
      await until(() => held.length > 0)
      await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor()
      for (const route of held) await route.continue()
      await page.unrouteAll()
      await page.getByRole('heading', { level: 1, name: url }).waitFor()
    })
  })

  it('show the deliveries of messages without a reload, rotate their secret, and are disabled and deleted', async () => {
    const who = await furnished(site)
    const receiver = await openReceiver()
    receiver.status = 204
    const { body } = await who.person.api.graphql(
      'mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id secret } }',
      { input: { url: receiver.url, events: ['message_sent'] } },
    )
    const { id, secret } = body.data.createWebhook
    await visit(site, { as: who.person, path: `/me/webhooks/${id}` }, async ({ page }) => {
      await page.getByText('No delivery is like that.').waitFor()
      await sendText(who, '+4915112345678')
      await page.getByRole('table', { name: 'Deliveries' }).getByText('Delivered').waitFor()
      await page.getByRole('tab', { name: 'Verify' }).click()
      await page.getByRole('region', { name: 'Verify' }).waitFor()
      await page.getByRole('button', { name: 'Rotate secret' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
      const other = page.getByRole('textbox', { name: 'Signing secret' })
      expect(await other.inputValue()).not.toBe(secret)
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('button', { name: 'Disable' }).click()
      await page.getByText('Disabled: by hand').waitFor()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('No endpoints yet').waitFor()
    })
  })

  it('show on the page of a message that a delivery succeeded at last', async () => {
    const who = await furnished(site)
    const receiver = await openReceiver()
    const input = { url: receiver.url, events: ['message_read'] }
    const create = 'mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }'
    await who.person.api.graphql(create, { input })
    const id = await sendText(who, '+4915112345678')
    await until(() => receiver.requests.length > 0)
    await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
      const deliveries = page.getByRole('region', { name: 'Webhook deliveries' })
      await deliveries.getByText('500').waitFor()
      receiver.status = 204
      const found = await who.person.api.graphql(`{ message(id: "${id}") { deliveries { nodes { id } } } }`)
      const [delivery] = found.body.data.message.deliveries.nodes
      await who.person.api.graphql('mutation($id: ID!) { redeliver(deliveryId: $id) { id } }', { id: delivery.id })
      await deliveries.getByText('204').waitFor()
    })
  })

  it('show all of their deliveries of a message', async () => {
    const who = await furnished(site)
    const { url } = await openReceiver()
    const create = 'mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }'
    const { body } = await who.person.api.graphql(create, { input: { url, events: ['instance_connected'] } })
    const id = await sendText(who, '+4915112345678')
    /** One of each of 25 endpoints, with errors and times of different lengths. */
    const add = () =>
      sql(site.databaseUrl).query(
        `with added as (
           insert into webhook_endpoints (id, "workspaceId", url, events, secret)
           select gen_random_uuid(), "workspaceId", url || n, events, secret from webhook_endpoints, generate_series(1, 25) n where id = $1
           returning id, substring(url from '\\d+$')::int as n
         )
         insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, status, attempts, "attemptsLeft", error, "createdAt")
         select gen_random_uuid(), added.id, v.seq, v.id, v.type, 'failed', 5, 0, repeat('x', (n % 20)::int), now() - (n % 2) * interval '2 days'
         from added, (select * from events where "messageId" = $2 order by seq limit 1) v`,
        [body.data.createWebhook.id, id],
      )
    await until(async () => (await add()).rowCount === 25)
    await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
      const deliveries = page.getByRole('region', { name: 'Webhook deliveries' })
      const rows = deliveries.getByRole('listitem')
      await until(async () => (await rows.count()) === 20)
      await deliveries.getByRole('button', { name: 'Show more' }).click()
      await until(async () => (await rows.count()) === 25)
      expect(await deliveries.getByRole('button', { name: 'Show more' }).count()).toBe(0)
      // Each column begins at one place, however long the words before it are.
      const left = (n: number) =>
        rows
          .nth(n)
          .getByRole('link')
          .evaluate((link) => link.getBoundingClientRect().left)
      expect(await left(24)).toBe(await left(0))
    })
  })
})
