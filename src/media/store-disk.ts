// Media store in a folder: DATA_DIR/media, which processes on several machines must share.
import { mkdir, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { syncFolder } from '../core/sync-folder.ts'
import { checkWritable } from '../core/writable.ts'
import { mediaDir } from './spool.ts'
import type { MediaStore } from './store.ts'

export function openDisk(dataDir: string): MediaStore {
  const dir = mediaDir(dataDir)
  const fileOf = (id: string) => path.join(dir, id)
  return {
    async put(id, from) {
      await mkdir(dir, { recursive: true, mode: 0o700 })
      await rename(from, fileOf(id))
      await syncFolder(dir)
    },
    async read(id, range) {
      try {
        const file = await open(fileOf(id))
        return file.createReadStream(range)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async remove(id) {
      await rm(fileOf(id), { force: true })
    },
    async check() {
      await checkWritable(dir)
      return `${dir} can be written`
    },
  }
}
