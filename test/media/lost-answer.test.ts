// An upload that fails because the database is away, or did not answer, does not count against the quota until the next sweep.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { addMedia } from '../../src/media/add-media.ts'
import { mediaTypes } from '../../src/media/kinds.ts'
import { mediaStore } from '../../src/media/open-store.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { openPassage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { dataFolder } from '../promises/demo.ts'

async function openStage() {
  const own = await cloneDatabase()
  const account = await createAccount(own)
  const passage = await openPassage(Number(new URL(own).port))
  const way = Object.assign(new URL(own), { host: `127.0.0.1:${passage.port}` }).href
  const app = await openApp(way, { DATA_DIR: await dataFolder() })
  const file = path.join(app.config.dataDir, 'upload')
  await mkdir(app.config.dataDir, { recursive: true })
  const type = mediaTypes.get('text/plain')
  if (!type) throw new Error('there is no such type')
  const add = async () => {
    await writeFile(file, 'hello')
    return await addMedia(contextFor(app, account), { path: file, size: 5, sha256: Buffer.alloc(32), fields: {} }, type)
  }
  const rows = async () => (await sql(own).query<{ id: string }>('select id from media')).rows
  return { own, passage, app, add, rows }
}

/** The ids of the files that are removed from the store. */
function removals(app: App): string[] {
  const removed: string[] = []
  const store = mediaStore(app)
  mediaStore.replace(app, { ...store, remove: (id) => store.remove(id).then(() => void removed.push(id)) })
  return removed
}

it('when the answer to its reservation is lost', async () => {
  const { passage, app, add, rows } = await openStage()
  const { lockQuota } = app.hooks
  app.hooks.lockQuota = (...of) => {
    passage.loseAnswer('COMMIT')
    return lockQuota(...of)
  }
  await expect(add()).rejects.toThrow()
  app.hooks.lockQuota = lockQuota
  await until(async () => (await rows()).length === 0)
  await add()
  expect(await rows()).toHaveLength(1)
})

it('when the database is away once its bytes are stored', async () => {
  const { own, app, add, rows } = await openStage()
  const removed = removals(app)
  const away = Promise.withResolvers<() => Promise<void>>()
  app.failpoint = async (name) => {
    if (name === 'media.after_put') away.resolve(await refuse(own, 'update', 'media'))
  }
  await expect(add()).rejects.toThrow()
  const [row] = await rows()
  await (await away.promise)()
  await until(async () => (await rows()).length === 0)
  expect(removed).toEqual([row?.id])
})
