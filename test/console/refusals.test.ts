// Proves that a refusal is said in the language of the reader, with what to do, and that a suspended account says so on every page.
import { describe, expect, it } from 'vitest'
import { command } from '../kit/command.ts'
import { commons } from '../kit/commons.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()
const submission = '/me/send?number=%2B4915112345678&text=Hello'

describe.runIf(browserFound).concurrent('a refusal', () => {
  it.each([
    ['en-GB', 'Send', /^Your subscription does not allow this action: .* Its owner reads under Billing what to do\.$/],
    ['pt-BR', 'Enviar', /^Sua assinatura não permite isso: .* O dono da conta lê em Cobrança o que fazer\./],
  ])('of a plan is said in %s', async (locale, button, said) => {
    const { person } = await furnished(site)
    await command(['account', 'suspend', '--email', person.email], site)
    await visit(site, { as: person, path: submission, locale }, async ({ page, expected }) => {
      expected.push(/403/)
      await page.getByRole('button', { name: button, exact: true }).click()
      const alert = page.getByRole('alert')
      await alert.waitFor()
      expect(await alert.textContent()).toMatch(said)
    })
  })

  it('of a number to filter by stands at its field', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/messages' }, async ({ page, expected }) => {
      expected.push(/400/)
      const number = page.getByRole('textbox', { name: 'Number' })
      await number.fill('+491511')
      await number.press('Enter')
      await page.getByText('must be an E.164 number').waitFor()
      expect(await number.getAttribute('aria-invalid')).toBe('true')
    })
  })

  it('is said by the gateway where the words cannot be loaded', async () => {
    const { person } = await furnished(site)
    await person.api.graphql('mutation { createSuppression(input: { phone: "+4915112345678" }) { phone } }')
    await visit(site, { as: person }, async ({ page, expected }) => {
      expected.push(/409|ERR_FAILED/)
      await page.route('**/assets/words-*', async (route) => {
        const text = await (await route.fetch()).text()
        await (text.includes('do-not-contact list. Do not send') ? route.abort() : route.continue())
      })
      await page.goto(submission)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('alert').filter({ hasText: 'The recipient is in the do-not-contact list' }).waitFor()
    })
  })

  it('of the whole console is said in the language of the reader', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, locale: 'pt-BR' }, async ({ page, expected }) => {
      expected.push(/503/)
      const message = 'The service is unavailable; try again shortly'
      const body = JSON.stringify({ errors: [{ message, extensions: { code: 'SERVICE_UNAVAILABLE' } }] })
      await page.route('**/graphql', (route) => route.fulfill({ status: 503, contentType: 'application/json', body }))
      await page.goto('/me/messages')
      await page.getByText('O gateway não está pronto. Tente de novo em instantes.').waitFor()
      await page.unroute('**/graphql')
      await page.getByRole('heading', { level: 1, name: 'Mensagens' }).waitFor()
    })
  })
})

describe.runIf(browserFound)('a suspended account', () => {
  it.each([
    [
      'en-GB',
      /^The account of this workspace is suspended: .* Ask the operator of this gateway\.$/,
      /^Suspended by the operator/,
    ],
    [
      'pt-BR',
      /^A conta deste espaço de trabalho está suspensa: .* Fale com o operador deste gateway\.$/,
      /^Suspensa pelo operador/,
    ],
  ])('says so and whom to ask, in %s', async (locale, notice, status) => {
    const { person } = await furnished(site)
    await command(['account', 'suspend', '--email', person.email], site)
    await visit(site, { as: person, path: '/me', locale }, async ({ page }) => {
      await page.getByRole('link', { name: notice }).click()
      await page.waitForURL('**/me/billing')
      await page.getByRole('definition').filter({ hasText: status }).waitFor()
      await command(['account', 'resume', '--email', person.email], site)
      await page.getByRole('navigation').getByRole('link').first().click()
      await page.getByRole('link', { name: notice }).waitFor({ state: 'detached' })
    })
  })
})
