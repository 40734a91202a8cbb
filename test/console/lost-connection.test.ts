// Proves that a page notices a connection that is lost although neither end was told, as after sleep or in another network.
import type { Request } from 'playwright-core'
import { expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openPassage } from '../kit/passage.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import { browserFound, sendText, visit } from './rig.ts'

it.runIf(browserFound)('a page whose connection is silent resumes the events', async () => {
  const [databaseUrl, port] = [await cloneDatabase(), await ownPort()]
  const passage = await openPassage(port)
  const url = `http://127.0.0.1:${passage.port}`
  const gateway = await openGateway({ databaseUrl, env: { PORT: String(port), PUBLIC_URL: url } })
  const person = await newPerson(gateway, databaseUrl)
  const who = { person, instance: await connectedInstance(databaseUrl, person) }
  await visit({ url, databaseUrl }, { as: person }, async ({ page, expected }) => {
    let streams = 0
    const asked: string[] = []
    const unanswered = new Set<Request>()
    page.on('request', (request) => {
      asked.push(request.url())
      unanswered.add(request)
      if (request.postData()?.includes('subscription Events')) streams++
    })
    page.on('requestfinished', (request) => unanswered.delete(request))
    page.on('requestfailed', (request) => unanswered.delete(request))
    // Requests that the silence loses fail when the gateway ends their connections.
    expected.push(/net::ERR_EMPTY_RESPONSE/)
    await page.clock.install()
    await page.goto('/me/messages')
    await page.getByText('No messages yet').waitFor()
    await until(() => streams === 1)
    const wait = () => page.clock.fastForward(20_000)
    await wait()
    // A page that lost a part of itself would be loaded again, and its events would not be resumed.
    await until(() => ['attention', 'find'].every((part) => asked.some((it) => it.includes(`/assets/${part}-`))))
    await until(() => unanswered.size === 1)
    passage.silence()
    await sendText(who, '+4915112345678')
    // Chromium may try other connections first, which are as silent.
    await until(async () => {
      await wait()
      return await page.getByRole('button', { name: 'Show 1 new' }).isVisible()
    })
    await page.getByRole('button', { name: 'Show 1 new' }).click()
    await page.getByRole('row').filter({ hasText: '+4915112345678' }).waitFor()
    expect(streams).toBeGreaterThan(1)
  })
})
