// Proves that a file can be chosen again in a dialog, that one that has changed since it was chosen says so, and that the faults of one that was
// imported can be read again.
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { atEnd } from '../kit/at-end.ts'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'
import { browserFound, furnished, visit } from './rig.ts'

const site = commons()

/** Writes a file that is removed at the end, and returns its path. */
async function csvFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'contacts-'))
  atEnd('test', () => rm(folder, { recursive: true }))
  const path = join(folder, 'contacts.csv')
  await writeFile(path, 'phone,name\n+4915112345671,Grace\n')
  return path
}

async function openImport(page: Page) {
  await page.getByRole('button', { name: 'Import CSV' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import CSV' })
  return { dialog, field: dialog.getByLabel('CSV file'), start: dialog.getByRole('button', { name: 'Start the import' }) }
}

describe.runIf(browserFound)('a file that is chosen', () => {
  it('can be chosen again in a dialog, which stays open', async () => {
    const { person } = await furnished(site)
    const path = await csvFile()
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      const { dialog, field, start } = await openImport(page)
      await field.setInputFiles(path)
      // For the browser this is a choice that was given up, because nothing changes.
      await field.setInputFiles(path)
      await start.click()
      await dialog.getByText('1 created').waitFor()
    })
  })

  it('and has changed since then says so, and is imported once it is chosen again', async () => {
    const { person } = await furnished(site)
    const path = await csvFile()
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      const { dialog, field, start } = await openImport(page)
      await field.setInputFiles(path)
      await appendFile(path, '+4915112345672,Linus\n')
      await start.click()
      await dialog.getByText('has changed since it was chosen. Choose it again.').waitFor()
      expect(await field.getAttribute('aria-invalid')).toBe('true')
      await field.setInputFiles(path)
      await start.click()
      await dialog.getByText('2 created').waitFor()
    })
  })

  it('and has faults names them also after its dialog was closed, until another one is chosen', async () => {
    const { person } = await furnished(site)
    await visit(site, { as: person, path: '/me/contacts' }, async ({ page }) => {
      const { dialog, field, start } = await openImport(page)
      const csv = 'phone,name\n+4915112345671,Grace\n12,Nobody\n'
      await field.setInputFiles({ name: 'contacts.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
      await start.click()
      const fault = dialog.getByRole('list', { name: 'Faults' }).getByText('Line 3')
      await fault.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Grace' }).click()
      await page.getByRole('heading', { level: 1, name: 'Grace' }).waitFor()
      await page.goBack()
      await openImport(page)
      await fault.waitFor()
      await dialog.getByRole('button', { name: 'Import another file' }).click()
      await until(() => field.evaluate((input) => document.activeElement === input))
      await field.setInputFiles(await csvFile())
      await start.click()
      await dialog.getByText('0 created, 0 updated, 1 left as they were, 0 left out.').waitFor()
      await page.keyboard.press('Escape')
      await openImport(page)
      await field.waitFor()
    })
  })
})
