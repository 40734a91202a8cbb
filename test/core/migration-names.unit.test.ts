// A process knows the migrations of its own version, also while the files of a newer one replace those that it was started from.
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type * as PrismaFiles from '../../src/core/database/prisma-files.ts'

const file = 'src/core/database/prisma-files.ts'

it('the migrations of a process stay those that it began with, so that /readyz asks for no others during an upgrade', async () => {
  const checkout = await mkdtemp(path.join(os.tmpdir(), 'gateway-checkout-'))
  onTestFinished(() => rm(checkout, { recursive: true }))
  const get = (name: string) => mkdir(path.join(checkout, 'prisma/migrations', name), { recursive: true })
  const copy = path.join(checkout, file)
  await mkdir(path.dirname(copy), { recursive: true })
  await copyFile(path.join(import.meta.dirname, '../..', file), copy)
  const { migrationNames }: typeof PrismaFiles = await import(copy)
  await get('0002_second')
  await get('0001_first')
  expect(await migrationNames()).toEqual(['0001_first', '0002_second'])
  await get('0003_of_the_next_version')
  expect(await migrationNames()).toEqual(['0001_first', '0002_second'])
})
