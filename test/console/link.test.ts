// Proves that a link of the operator signs in, once.
import { expect, it } from 'vitest'
import { newAccount } from '../accounts/person.ts'
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
