// The embedded database starts although a crash has left its lock file behind, and never beside a server that uses the same files.
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, inject, it } from 'vitest'
import { type OwnServer, ownServer, sql } from '../kit/database.ts'

let server: OwnServer
let lock: string

beforeAll(async () => {
  server = await ownServer()
  lock = path.join(server.dataDir, 'postgres/postmaster.pid')
})

async function answers(): Promise<void> {
  expect((await sql(server.url).query('select 1 as one')).rows).toEqual([{ one: 1 }])
}

it('starts when another PostgreSQL has got the process id of the one that crashed', async () => {
  const left = readFileSync(lock, 'utf8').split('\n').slice(1)
  await server.stop()
  const { rows } = await sql(inject('serverUrl')).query<{ pid: number }>('select pg_backend_pid() as pid')
  writeFileSync(lock, [rows[0]?.pid, ...left].join('\n'))
  await server.start()
  await answers()
})

it('starts when a power failure has left an empty lock file', async () => {
  await server.stop()
  writeFileSync(lock, '')
  utimesSync(lock, 0, 0)
  await server.start()
  await answers()
})

it('leaves an empty lock file that was just made to the server that starts', async () => {
  await server.stop()
  writeFileSync(lock, '')
  const later = new Date(Date.now() + 60_000)
  utimesSync(lock, later, later)
  await expect(server.start()).rejects.toThrow('The embedded database does not start: ')
  expect(existsSync(lock)).toBe(true)
  utimesSync(lock, 0, 0)
  await server.start()
})

it('does not start beside a server that uses the same files', async () => {
  await expect(server.start()).rejects.toThrow('The embedded database does not start: ')
  await answers()
})

// Elsewhere are neither containers nor the program that takes the lock.
it.runIf(process.platform === 'linux')(
  'does not start beside a server whose process it cannot see, because that runs in another container',
  async () => {
    const own = readFileSync(lock, 'utf8')
    // No process has this id, as is the case for most ids of another container.
    writeFileSync(lock, ['4194305', ...own.split('\n').slice(1)].join('\n'))
    const seen = readFileSync(lock, 'utf8')
    await expect(server.start()).rejects.toThrow('another server uses its files')
    expect(readFileSync(lock, 'utf8')).toBe(seen)
    writeFileSync(lock, own)
    await server.stop()
    await server.start()
    await answers()
  },
)
