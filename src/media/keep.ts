// Keeps a file that a network gave for a workspace: the same checks and the same quota as an upload.
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { App } from '../core/app.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { maxUploadBytes } from './kinds.ts'
import { addFile } from './service.ts'
import { openSpool } from './spool.ts'
import { typeOf } from './upload.ts'
import { urlOf } from './url.ts'

/** Nothing refers to the file any more. */
class Unwanted extends Error {}

/**
 * Reads a file to its end and keeps it. `attach` receives its address in the transaction that makes it public; false discards the file.
 * @throws VALIDATION_ERROR when its type is not supported or it is empty, PAYLOAD_TOO_LARGE when it is too large for its type,
 * MEDIA_STORAGE_EXCEEDED when no quota is left; as `Hooks.lockQuota`.
 */
export async function keepFile(
  app: App,
  owner: { workspaceId: string; ownerId: string },
  bytes: AsyncIterable<Uint8Array>,
  attach: (tx: Tx, url: string) => Promise<boolean>,
): Promise<void> {
  await using spool = await openSpool(app.config.dataDir)
  const size = await save(bytes, spool.path)
  const type = await typeOf({ path: spool.path, size })
  const adding = addFile(app, owner, { path: spool.path, size }, type, {
    limits: (tx) => app.hooks.lockQuota(tx, owner),
    commit: (store) =>
      transaction(app.db, async (tx) => {
        const media = await store(tx)
        if (!(await attach(tx, urlOf(app.config, media)))) throw new Unwanted()
        return media
      }),
  })
  await adding.catch((error: Error) => {
    if (!(error instanceof Unwanted)) throw error
  })
}

async function save(bytes: AsyncIterable<Uint8Array>, path: string): Promise<number> {
  let size = 0
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      size += chunk.length
      if (size > maxUploadBytes) fail('PAYLOAD_TOO_LARGE', `file: must have at most ${maxUploadBytes / 1024 ** 2} MiB`)
      yield chunk
    }
  }
  const file = await open(path, 'wx', 0o600)
  await pipeline(measured, file.createWriteStream({ flush: true }))
  return size > 0 ? size : fail('VALIDATION_ERROR', 'file: must not be empty')
}
