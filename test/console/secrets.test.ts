// Proves that secrets are shown once and then forgotten: nothing of them is left in the memory of the page, its storage or its address.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newAccount, password } from '../accounts/person.ts'
import { commons } from '../kit/commons.ts'
import { openReceiver } from './receiver.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

/** Every text that the page still reaches, its cache among them. */
async function memoryOf(page: Page): Promise<string> {
  const cdp = await page.context().newCDPSession(page)
  const chunks: string[] = []
  cdp.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk))
  await cdp.send('HeapProfiler.collectGarbage')
  await cdp.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  await cdp.detach()
  return chunks.join('')
}

const storageOf = (page: Page) =>
  page.evaluate(async () =>
    JSON.stringify([
      { ...localStorage },
      { ...sessionStorage },
      location.href,
      document.cookie,
      await caches.keys(),
      await indexedDB.databases(),
    ]),
  )

describe.runIf(browserFound).concurrent('a secret', () => {
  it('of a key, of an endpoint or of a rotation is nowhere once its dialog is closed', async () => {
    const { person } = await furnished(site)
    const { url } = await openReceiver()
    const secrets: string[] = []
    await visit(site, { as: person, path: '/me/keys' }, async ({ page }) => {
      const main = page.getByRole('navigation', { name: 'Main' })
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('The shop')
      await page.getByRole('button', { name: 'Create key' }).click()
      secrets.push(await page.getByRole('textbox', { name: 'Your new key' }).inputValue())
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('row').filter({ hasText: 'The shop' }).waitFor()

      await main.getByRole('link', { name: 'Webhooks' }).click()
      await page.getByRole('button', { name: 'New endpoint' }).click()
      await page.getByRole('textbox', { name: 'URL' }).fill(url)
      await page.getByRole('button', { name: 'Create endpoint' }).click()
      secrets.push(await page.getByRole('textbox', { name: 'Signing secret' }).inputValue())
      await page.getByRole('button', { name: 'Done' }).click()

      await page.getByRole('link', { name: url }).click()
      await page.getByRole('button', { name: 'Rotate secret' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
      secrets.push(await page.getByRole('textbox', { name: 'Signing secret' }).inputValue())
      await page.getByRole('button', { name: 'Done' }).click()
      await main.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('row').filter({ hasText: 'The shop' }).waitFor()
      await main.getByRole('link', { name: 'Messages' }).click()
      await page.getByText('No messages yet').waitFor()

      expect(secrets.map((secret) => secret.slice(0, 6))).toEqual([expect.stringMatching(/^svc_/), 'whsec_', 'whsec_'])
      const memory = await memoryOf(page)
      // The search finds what is there.
      expect(memory).toContain('The shop')
      expect(secrets.filter((secret) => memory.includes(secret))).toEqual([])
      const kept = await storageOf(page)
      expect(kept).not.toMatch(/eyJ|svc_live_\w{20}|whsec_/)
    })
  })

  it('is shown although Escape and a click outside come before its answer', async () => {
    const { person } = await furnished(site)
    const { url } = await openReceiver()
    await visit(site, { as: person, path: '/me/keys' }, async ({ page }) => {
      let answered = Promise.withResolvers<void>()
      await page.route('**/graphql', async (route) => {
        if (/mutation (CreateKey|CreateEndpoint|RotateSecret)/.test(route.request().postData() ?? '')) await answered.promise
        await route.continue()
      })
      const makes = async (dialog: string, button: string, secret: string) => {
        answered = Promise.withResolvers()
        await page.getByRole('dialog').getByRole('button', { name: button }).click()
        // The browser closes a dialog at the second Escape.
        for (const key of ['Escape', 'Escape']) await page.keyboard.press(key)
        await page.mouse.click(5, 5)
        await page.getByRole('dialog', { name: dialog }).waitFor()
        answered.resolve()
        await page.getByRole('textbox', { name: secret }).waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByRole('textbox', { name: 'Name' }).fill('The shop')
      await makes('New key', 'Create key', 'Your new key')
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }).click()
      await page.getByRole('button', { name: 'New endpoint' }).click()
      await page.getByRole('textbox', { name: 'URL' }).fill(url)
      await makes('New endpoint', 'Create endpoint', 'Signing secret')
      await page.getByRole('link', { name: url }).click()
      await page.getByRole('button', { name: 'Rotate secret' }).click()
      await makes('Rotate secret', 'Rotate secret', 'Signing secret')
    })
  })

  it('of the session is in no address, storage or page, and no script can read the cookie', async () => {
    const { email } = await newAccount(site.databaseUrl)
    const addresses: string[] = []
    await visit(site, {}, async ({ page }) => {
      page.on('request', (request) => addresses.push(request.url()))
      await page.goto('/sign-in')
      await page.getByRole('textbox', { name: 'Email' }).fill(email)
      await page.getByRole('textbox', { name: 'Password' }).fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
      expect(await storageOf(page)).not.toMatch(/eyJ|svc_|whsec_|session_token/)
      expect(await page.content()).not.toMatch(/eyJ/)
      expect(addresses.join(' ')).not.toMatch(/eyJ|svc_|query=/)
    })
  })
})

describe.runIf(browserFound)('the policy', () => {
  it('lets no script turn text into markup or code, nor load anything from elsewhere', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me' }, async ({ page, expected }) => {
      expected.push(/Content Security Policy|TrustedHTML|TrustedScript|Failed to load resource|Refused|violates/)
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
      const refused = await page.evaluate(async () => {
        const violated = new Promise((resolve) =>
          document.addEventListener(
            'securitypolicyviolation',
            ({ effectiveDirective }) => effectiveDirective === 'connect-src' && resolve(effectiveDirective),
          ),
        )
        const fails = (act: () => unknown) => {
          try {
            act()
            return false
          } catch {
            return true
          }
        }
        const markup = fails(() => {
          document.createElement('div').innerHTML = '<b>x</b>'
        })
        const address = fails(() => {
          document.createElement('script').src = '/x.js'
        })
        const policy = fails(() => (window as unknown as Factory).trustedTypes.createPolicy('x', {}))
        const elsewhere = await fetch('http://127.0.0.1:9/').then(
          () => false,
          () => true,
        )
        interface Factory {
          trustedTypes: { createPolicy: (name: string, rules: object) => unknown }
        }
        return { markup, address, policy, elsewhere, violated: await violated }
      })
      expect(refused).toEqual({ markup: true, address: true, policy: true, elsewhere: true, violated: 'connect-src' })
    })
  })
})
