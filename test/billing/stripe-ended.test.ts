// The end of an account that has an order at Stripe: nothing of it is charged afterwards.
import { beforeAll, expect, it } from 'vitest'
import { password } from '../accounts/person.ts'
import { byHeader, openPerson, type Person } from './rig.ts'
import { openStripeSite, type StripeSite, sessionOf } from './stripe-rig.ts'
import { pay } from './stripe-stand-in.ts'

let site: StripeSite

beforeAll(async () => {
  site = await openStripeSite()
})

async function ordered() {
  const person = await openPerson(site, 'free')
  const { data } = await byHeader(person, null, 'checkout', { plan: 'pro' })
  return { person, session: sessionOf(site, data.url) }
}

async function end({ api }: Person): Promise<number> {
  return (await api.delete('/api/me', { password })).status
}

it('leaves no open order that could still be paid', async () => {
  const { person, session } = await ordered()
  expect(session.status).toBe('open')
  expect(await end(person)).toBe(200)
  expect(session.status).toBe('expired')
})

it('ends a subscription whose payment was not reported yet', async () => {
  const { person, session } = await ordered()
  const { subscription } = pay(site.stripe, session)
  expect(await end(person)).toBe(200)
  expect(subscription.cancel_at_period_end).toBe(true)
})

it('fails while Stripe does not respond, and changes nothing', async () => {
  const { person, session } = await ordered()
  site.stripe.mode = 'broken'
  expect(await end(person)).toBe(502)
  site.stripe.mode = 'well'
  expect(session.status).toBe('open')
  expect(await end(person)).toBe(200)
  expect(session.status).toBe('expired')
})
