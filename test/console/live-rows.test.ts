// Proves that events change the messages on screen by themselves, without another question, and that nothing of the state before stays.
import { describe, expect, it } from 'vitest'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, sendText, visit } from './rig.ts'

const site = commons()
const to = '+4915112345678'
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()
const cancel = 'mutation($id: ID!) { cancelMessage(id: $id) { id } }'

describe.runIf(browserFound).concurrent('an event', () => {
  it('changes the rows of a list that is not read again', async () => {
    const who = await furnished(site)
    const id = await sendText(who, to, { scheduledAt: tomorrow() })
    await visit(site, { as: who.person }, async ({ page }) => {
      let asked = 0
      page.on('request', (request) => {
        if (request.postData()?.includes('query Messages(')) asked++
      })
      await page.goto('/me/messages')
      await page.getByRole('row').filter({ hasText: to }).getByText('Queued').waitFor()
      await page.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
      await who.person.api.graphql(cancel, { id })
      await page.getByRole('row').filter({ hasText: to }).getByText('Cancelled').waitFor()
      expect(asked).toBe(1)
    })
  })

  it('ends what the page of a message says about its wait', async () => {
    const who = await furnished(site)
    const id = await sendText(who, to, { scheduledAt: tomorrow() })
    await visit(site, { as: who.person, path: `/me/messages/${id}` }, async ({ page }) => {
      const wait = page.getByText('Its time has not come.')
      await wait.waitFor()
      await who.person.api.graphql(cancel, { id })
      await page.getByRole('list', { name: 'Timeline' }).getByText('Cancelled').waitFor()
      await until(async () => (await wait.count()) === 0)
    })
  })
})
