// Proves that a link of the operator signs in, once.
import { expect, it } from 'vitest'
import { newAccount, newPerson } from '../accounts/person.ts'
import { command } from '../kit/command.ts'
import { commons } from '../kit/commons.ts'
import { browserFound, visit } from './rig.ts'

const site = commons()

it.runIf(browserFound)('a link of `gateway account link` signs in by one click, once', async () => {
  const { email } = await newAccount(site.databaseUrl)
  const { stdout } = await command(['account', 'link', '--email', email], { databaseUrl: site.databaseUrl })
  const token = stdout.match(/#once=(\S+)/)?.[1] as string
  await visit(site, { path: `/sign-in#once=${token}` }, async ({ page }) => {
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    expect(page.url()).toBe(`${site.url}/me`)
  })
  await visit(site, { path: `/sign-in#once=${token}` }, async ({ page, expected }) => {
    expected.push(/400/)
    await page.getByRole('alert').getByText('This link was already used or has expired.').waitFor()
    expect(page.url()).not.toContain(token)
  })
})

it.runIf(browserFound)(
  'a link signs in to its own account where somebody else is signed in, who stays so once it was used',
  async () => {
    const [{ email }, other] = [await newAccount(site.databaseUrl), await newPerson(site, site.databaseUrl)]
    const { stdout } = await command(['account', 'link', '--email', email], { databaseUrl: site.databaseUrl })
    const link = `/sign-in#once=${stdout.match(/#once=(\S+)/)?.[1]}`
    for (const signedIn of [email, other.email]) {
      await visit(site, { as: other, path: '/me/send' }, async ({ page, expected }) => {
        expected.push(/400/)
        await page.getByRole('heading', { level: 1, name: 'Send a message' }).waitFor()
        await page.goto(link)
        await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
        await page.getByRole('button', { name: 'Account menu' }).click()
        await page.getByRole('menu').getByText(signedIn).waitFor()
      })
    }
  },
)
