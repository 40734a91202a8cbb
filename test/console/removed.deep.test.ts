// Proves that the console can be deleted: its folder and its line in server.ts. All else compiles and serves.
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { environment, node, root, secretKey } from '../kit/environment.ts'
import { watch } from '../kit/gateway.ts'

const left = new Set(['node_modules', '.git', '.data', 'dist'])

/** A copy of the repository without the console and without what proves it. */
async function copyWithout(): Promise<string> {
  const copy = await mkdtemp(path.join(tmpdir(), 'gateway-without-console-'))
  atEnd('test', () => rm(copy, { recursive: true, force: true }))
  await cp(root, copy, { recursive: true, verbatimSymlinks: true, filter: (file) => !left.has(path.basename(file)) })
  await symlink(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  for (const folder of ['src/console', 'test/console']) await rm(path.join(copy, folder), { recursive: true })
  await deleteLines(path.join(copy, 'src/server.ts'), /mountConsole/)
  await deleteLines(path.join(copy, 'test/bench/bench.ts'), /benchConsole/)
  await rm(path.join(copy, 'test/bench/console.ts'))
  return copy
}

async function deleteLines(file: string, pattern: RegExp): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const kept = lines.filter((line) => !pattern.test(line))
  expect(kept.length).toBeLessThan(lines.length)
  await writeFile(file, kept.join('\n'))
}

it('leaves a gateway that generates, compiles and serves', { timeout: 900_000 }, async () => {
  const copy = await copyWithout()
  for (const script of ['generate', 'typecheck']) {
    const run = watch(spawn('npm', ['run', '-s', script], { cwd: copy, env: environment, stdio: ['ignore', 'pipe', 'pipe'] }))
    expect([script, await run.exited, run.logs.filter((line) => line.includes('error'))]).toEqual([
      script,
      { code: 0, signal: null },
      [],
    ])
  }

  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const env = { ...environment, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, DATA_DIR: path.join(copy, '.data') }
  const gateway = watch(spawn(node, ['src/main.ts'], { cwd: copy, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  const [, url = ''] = await gateway.line(/^gateway ready on (http:\S+)$/, 90_000)
  const home = await fetch(url)
  expect([home.status, (await home.json()).error.code]).toEqual([404, 'NOT_FOUND'])
  const { graphql, get } = api({ url }, account.apiKey)
  expect((await graphql('{ instances { id } }')).body).toEqual({ data: { instances: [] } })
  expect((await get('instances')).status).toBe(200)
  expect(await gateway.stop()).toEqual({ code: 0, signal: null })
})
