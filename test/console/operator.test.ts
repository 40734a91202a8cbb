// Proves that operators see the installation and retry its dead jobs on their page, and that nobody else finds that page.
import { beforeAll, describe, expect, it } from 'vitest'
import { newPerson, type Person } from '../accounts/person.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { faultsOf } from './look.ts'
import { browserFound, type Site, visit } from './rig.ts'

describe.runIf(browserFound)('the page of operators', () => {
  let site: Site
  let chief: Person

  beforeAll(async () => {
    const databaseUrl = await cloneDatabase()
    site = { databaseUrl, url: (await openGateway({ databaseUrl })).url }
    chief = await newPerson(site, databaseUrl)
    await command(['account', 'operator', '--email', chief.email], { databaseUrl })
  })

  /** A job that failed all its retries, as pg-boss leaves it in the dead letter queue. It does nothing when it runs again. */
  async function addDead(queue: string): Promise<void> {
    const { rows } = await sql(site.databaseUrl).query(
      `insert into bulk_jobs (id, "workspaceId", operation, "contactIds", "requestedCount", summary)
       values (gen_random_uuid(), $1, 'bulk_delete_contacts', '{}', 0, '{"deleted": 0, "notFound": 0}') returning id`,
      [chief.workspaceId],
    )
    await sql(site.databaseUrl).query(
      `insert into pgboss.job (name, state, data, source_name, source_id, source_created_on, source_retry_count, source_output, completed_on)
       values ('job.dead', 'completed', $2, $1, gen_random_uuid(), now(), 3, '{"error": "it broke"}', now())`,
      [queue, { id: rows[0].id }],
    )
  }

  it('shows the processes, the queues and the accounts, and puts a dead job back into its queue', async () => {
    await addDead('contact.bulk')
    await addDead('mail.send')
    await visit(site, { as: chief, path: '/me' }, async ({ page }) => {
      await page.getByRole('button', { name: 'Account menu' }).click()
      await page.getByRole('menuitem', { name: 'Operator' }).click()
      await page.getByRole('heading', { level: 1, name: 'Operator' }).waitFor()
      await page.getByRole('table', { name: 'Nodes' }).getByText('http, worker, relay').waitFor()
      await page.getByRole('table', { name: 'Accounts' }).getByText(chief.email).waitFor()
      const dead = page.getByRole('table', { name: 'Dead jobs' })
      await dead.getByText('it broke').first().waitFor()
      expect(await dead.getByRole('button', { name: 'Retry', exact: true }).count()).toBe(2)
      expect(await faultsOf(page)).toEqual([])
      await page.getByRole('table', { name: 'Queues' }).getByRole('link', { name: '1 dead jobs of contact.bulk' }).click()
      await until(async () => (await dead.getByRole('button', { name: 'Retry', exact: true }).count()) === 1)
      await dead.getByRole('button', { name: 'Retry', exact: true }).dblclick()
      await page.getByText('Put back into contact.bulk.').waitFor()
      await page.getByText('No job failed for good.').waitFor()
      await page.getByRole('link', { name: 'Show all' }).click()
      await dead.getByText('mail.send').waitFor()
    })
  })

  it('is not found by other people, nor by an operator of before', async () => {
    const former = await newPerson(site, site.databaseUrl)
    await visit(site, { as: former, path: '/operator' }, async ({ page, expected }) => {
      expected.push(/403/)
      const notFound = page.getByRole('heading', { level: 1, name: 'Not found' })
      await notFound.waitFor()
      expect(await page.getByRole('menuitem', { name: 'Operator', includeHidden: true }).count()).toBe(0)
      await command(['account', 'operator', '--email', former.email], { databaseUrl: site.databaseUrl })
      await page.reload()
      await page.getByRole('table', { name: 'Nodes' }).waitFor()
      await command(['account', 'operator', '--email', former.email, '--revoke'], { databaseUrl: site.databaseUrl })
      await notFound.waitFor()
    })
  })
})
