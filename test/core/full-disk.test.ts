// /readyz on a full disk: a small file system in memory where the machine lets us mount one, else a folder that is none.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'

interface Disk {
  folder: string
  fill: () => void
  free: () => void
}

function smallDisk(): Disk {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-small-disk-'))
  atEnd('test', async () => rmSync(folder, { recursive: true, force: true }))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    const media = path.join(folder, 'media')
    const free = () => rmSync(media, { recursive: true, force: true })
    return { folder, free, fill: () => [free(), writeFileSync(media, '')] }
  }
  atEnd('test', async () => void execFileSync('umount', ['-l', folder]))
  const filler = path.join(folder, 'filler')
  const free = () => rmSync(filler)
  const fill = () => {
    const { bavail, bsize } = statfsSync(folder)
    writeFileSync(filler, Buffer.alloc(bavail * bsize))
  }
  return { folder, free, fill }
}

it('/readyz answers 503 while the disk of uploaded files is full, and 200 when there is space again', async () => {
  const disk = smallDisk()
  const gateway = await openGateway({ databaseUrl: await cloneDatabase(), env: { DATA_DIR: disk.folder } })
  const look = async () => {
    const { status, body } = await api(gateway).get('/readyz')
    return [status, ...body.reasons]
  }
  expect(await look()).toEqual([200])
  disk.fill()
  expect(await look()).toEqual([503, 'disk_unwritable'])
  expect((await api(gateway).get('/livez')).status).toBe(200)
  await gateway.line(/"reason":"disk_unwritable","err":"EN/)
  disk.free()
  expect(await look()).toEqual([200])
})
