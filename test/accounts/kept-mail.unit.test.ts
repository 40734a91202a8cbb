// Mails that are written to files are deleted after a week.
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { clearMail, keepMail } from '../../src/accounts/mail/kept-mail.ts'

it('deletes the mails that are older than a week, and keeps the others', async () => {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'gateway-mail-'))
  try {
    expect(await clearMail(dataDir)).toBe(0)
    const [old] = [await keepMail(dataDir, 'old', 'x'), await keepMail(dataDir, 'young', 'y')]
    const eightDaysAgo = new Date(Date.now() - 8 * 86_400_000)
    await utimes(old, eightDaysAgo, eightDaysAgo)
    expect(await clearMail(dataDir)).toBe(1)
    expect(await readdir(path.join(dataDir, 'mail'))).toEqual(['young.txt'])
  } finally {
    await rm(dataDir, { recursive: true })
  }
})
