// Helpers of the start and recovery tests: a separate DATA_DIR for each test, and the demo account that the gateway prints.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'vitest'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { command } from '../kit/command.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'

/** A data folder for one test; by default its parent has the permissions of a checkout. */
export async function dataFolder(mode = 0o755): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'gateway-start-'))
  await chmod(folder, mode)
  atEnd('test', async () => {
    await databaseGone(folder)
    await rm(folder, { recursive: true, force: true })
  })
  return path.join(folder, 'data')
}

let used: Promise<{ folder: string; demo: DemoAccount }> | undefined

/**
 * A copy of a data folder on which a gateway has already started, with its demo account: a copy, because making one takes as
 * long as two starts.
 */
export async function usedFolder(): Promise<{ DATA_DIR: string; demo: DemoAccount }> {
  used ??= useFolder().catch((error: Error) => {
    // A failure is not cached, so that the next test tries again.
    used = undefined
    throw error
  })
  const { folder, demo } = await used
  const DATA_DIR = await dataFolder()
  // Copies with file owners, as restoring a backup does.
  execFileSync('cp', ['-a', folder, DATA_DIR])
  return { DATA_DIR, demo }
}

async function useFolder(): Promise<{ folder: string; demo: DemoAccount }> {
  const outer = await mkdtemp(path.join(os.tmpdir(), 'gateway-start-'))
  atEnd('file', async () => rm(outer, { recursive: true, force: true }))
  await chmod(outer, 0o755)
  const folder = path.join(outer, 'data')
  const gateway = await startGateway({ env: { DATA_DIR: folder } })
  const demo = demoOf(gateway)
  await gateway.stop()
  return { folder, demo }
}

/** A killed gateway leaves its database running for the next one; at the end of the test, the doctor command stops it. */
async function databaseGone(folder: string): Promise<void> {
  const lock = path.join(folder, 'data/postgres/postmaster.pid')
  if (existsSync(lock)) {
    await command(['doctor'], { env: { DATA_DIR: path.join(folder, 'data') } })
    await until(() => !existsSync(lock))
  }
}

export interface DemoAccount {
  apiKey: string
  instanceId: string
}

/** Reads the demo account from the printed lines. @throws when none was printed. */
export function demoOf(gateway: { logs: string[] }): DemoAccount {
  const text = gateway.logs.join('\n')
  const apiKey = text.match(/svc_live_[0-9a-f]{64}/)?.[0]
  const instanceId = text.match(/"instanceId":"([0-9a-f-]{36})"/)?.[1]
  if (!apiKey || !instanceId) throw new Error(`No demo account was printed:\n${text}`)
  return { apiKey, instanceId }
}

export async function send(gateway: { url: string }, demo: DemoAccount, text: string): Promise<string> {
  const { instanceId } = demo
  const { status, body } = await api(gateway, demo.apiKey).post('messages/send', {
    instanceId,
    to: '+4915112345678',
    type: 'text',
    text,
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  return body.data.id
}

export async function messageOf(gateway: { url: string }, demo: DemoAccount, id: string) {
  return (await api(gateway, demo.apiKey).get(`messages/${id}`)).body.data
}
