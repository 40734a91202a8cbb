// Proves that a page notices a connection that is lost although neither end was told, as after sleep or in another network.
import type { Page, Request } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openPassage } from '../kit/passage.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import { browserFound, sendText, type Visit, visit } from './rig.ts'

/** A gateway behind a way that can be silenced. */
async function openSite() {
  const [databaseUrl, port] = [await cloneDatabase(), await ownPort()]
  const passage = await openPassage(port)
  const url = `http://127.0.0.1:${passage.port}`
  const gateway = await openGateway({ databaseUrl, env: { PORT: String(port), PUBLIC_URL: url } })
  const person = await newPerson(gateway, databaseUrl)
  return { site: { url, databaseUrl }, passage, who: { person, instance: await connectedInstance(databaseUrl, person) } }
}

const wait = (page: Page) => page.clock.fastForward(20_000)

/** Opens a page, and waits until nothing but its streams is under way. Returns how many were opened so far. */
async function settle({ page, expected }: Visit, path: string, streams: number): Promise<() => number> {
  let opened = 0
  const asked: string[] = []
  const unanswered = new Set<Request>()
  page.on('request', (request) => {
    asked.push(request.url())
    unanswered.add(request)
    if (request.postData()?.includes('subscription ')) opened++
  })
  page.on('requestfinished', (request) => unanswered.delete(request))
  page.on('requestfailed', (request) => unanswered.delete(request))
  // Requests that the silence loses fail when the gateway ends their connections.
  expected.push(/net::ERR_EMPTY_RESPONSE/)
  await page.clock.install()
  await page.goto(path)
  await until(() => opened === streams)
  await wait(page)
  // A page that lost a part of itself would be loaded again, and its events would not be resumed.
  await until(() => ['attention', 'find'].every((part) => asked.some((it) => it.includes(`/assets/${part}-`))))
  await until(() => unanswered.size === streams)
  return () => opened
}

describe.runIf(browserFound)('a page whose connection is silent', () => {
  it('resumes the events', async () => {
    const { site, passage, who } = await openSite()
    await visit(site, { as: who.person }, async (visit) => {
      const { page } = visit
      const opened = await settle(visit, '/me/messages', 1)
      await page.getByText('No messages yet').waitFor()
      passage.silence()
      await sendText(who, '+4915112345678')
      // Chromium may try other connections first, which are as silent.
      await until(async () => {
        await wait(page)
        return await page.getByRole('button', { name: 'Show 1 new' }).isVisible()
      })
      await page.getByRole('button', { name: 'Show 1 new' }).click()
      await page.getByRole('row').filter({ hasText: '+4915112345678' }).waitFor()
      expect(opened()).toBeGreaterThan(1)
    })
  })

  it('resumes the counters of a campaign', async () => {
    const { site, passage, who } = await openSite()
    const { person, instance } = who
    const scheduledAt = new Date(Date.now() + 30 * 86_400_000).toISOString()
    const message = { instanceId: instance.id, type: 'text', text: 'Hello', recipients: [{ to: '+4915112345678' }] }
    const { id } = (await person.api.post('/api/campaigns', { ...message, name: 'News', scheduledAt })).body.data
    await visit(site, { as: person }, async (visit) => {
      const { page } = visit
      await settle(visit, `/me/campaigns/${id}`, 2)
      const status = page.getByRole('region', { name: 'Progress' }).getByRole('status')
      await status.getByText('Scheduled').waitFor()
      passage.silence()
      await person.api.post(`/api/campaigns/${id}/cancel`, {})
      await until(async () => {
        await wait(page)
        return await status.getByText('Cancelled').isVisible()
      })
    })
  })
})
