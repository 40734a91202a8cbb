// A start waits for the embedded database for as long as that recovers from a crash, which takes minutes on a slow disk.
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { openEmbedded } from '../../src/core/database/embedded.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'

/** A used DATA_DIR whose database recovers until `end` is called. */
async function recovering(): Promise<{ dataDir: string; lock: string; end: () => void }> {
  const dataDir = await realpath(await mkdtemp(path.join(os.tmpdir(), 'gateway-recovery-')))
  await chmod(dataDir, 0o711)
  await (await openEmbedded({ dataDir, as: 'command' }))[Symbol.asyncDispose]()
  const files = path.join(dataDir, 'postgres')
  const [lock, go] = [path.join(files, 'postmaster.pid'), path.join(dataDir, 'go')]
  // PostgreSQL asks for archived WAL first, and waits for this command.
  appendFileSync(
    path.join(files, 'postgresql.auto.conf'),
    `restore_command = 'until test -e "${go}"; do sleep 0.05; done; false'\n`,
  )
  writeFileSync(path.join(files, 'recovery.signal'), '')
  const end = () => writeFileSync(go, '')
  atEnd('test', async () => {
    end()
    if (existsSync(lock)) process.kill(Number(readFileSync(lock, 'utf8').split('\n')[0]), 'SIGQUIT')
    await until(() => !existsSync(lock))
    await rm(dataDir, { recursive: true, force: true })
  })
  return { dataDir, lock, end }
}

/** Ends the program that waits for the server, as it does itself after a minute. */
async function giveUpWaiting(dataDir: string, lock: string): Promise<void> {
  await until(() => existsSync(lock) && readFileSync(lock, 'utf8').includes('starting'))
  const processes = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  const waiting = processes.find((line) => line.includes(`pg_ctl start --pgdata ${dataDir}/`))
  process.kill(Number.parseInt(waiting as string, 10), 'SIGKILL')
}

it('a start waits for a database that recovers, however long that takes', async () => {
  const { dataDir, lock, end } = await recovering()
  const said: string[] = []
  const opening = openEmbedded({ dataDir, as: 'gateway', onTrouble: (message) => said.push(message) })
  opening.catch(() => {})
  await giveUpWaiting(dataDir, lock)
  const hourMs = 3_600_000
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + hourMs)
  await Promise.race([opening, until(() => said.length > 0)])
  clock.mockRestore()
  expect(said).toEqual(['the embedded database recovers from a crash; still waiting for it'])
  end()
  await using database = await opening
  expect((await sql(database.url).query('select 1 as one')).rows).toEqual([{ one: 1 }])
})
