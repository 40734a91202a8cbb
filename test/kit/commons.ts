// One gateway for the whole test run, beside the separate databases that a test file may open: starting a gateway costs more
// than most files ask of it, and each file uses workspaces of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { inject } from 'vitest'
import { environment, node, root, secretKey } from './environment.ts'
import { lessCollection } from './less-collection.ts'

declare module 'vitest' {
  interface ProvidedContext {
    commons: Commons
  }
}

/** The address of the shared gateway. It cannot be stopped, and its rows and logs are not those of one test file alone. */
export interface Commons {
  /** `http://127.0.0.1:PORT`. */
  url: string
  databaseUrl: string
  /** Mails are written to `mail` below it. */
  dataDir: string
  /** Of its process. */
  pid: number
}

export function commons(): Commons {
  return inject('commons')
}

/** Starts the gateway `program` on that database, with a rate limit that no test reaches. */
export async function startCommons(program: string, databaseUrl: string): Promise<Commons & { end: () => Promise<void> }> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'gateway-test-commons-'))
  const own = { DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, DATA_DIR: dataDir, RATE_LIMIT_PER_SECOND: '100000' }
  const child = spawn(node, [...lessCollection, program], {
    cwd: root,
    env: { ...environment, ...own },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const killAtExit = () => child.kill('SIGKILL')
  process.on('exit', killAtExit)
  const url = await readyOn(child)
  async function end(): Promise<void> {
    process.off('exit', killAtExit)
    if (child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await exited
    }
    await rm(dataDir, { recursive: true, force: true })
  }
  return { url, databaseUrl, dataDir, pid: child.pid as number, end }
}

/** Resolves to the URL that the gateway prints, and forwards the errors that it logs before and after that. */
function readyOn(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`The gateway of the run ended (${signal ?? code})`)))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const [, url] = line.match(/^gateway ready on (http:\S+)$/) ?? []
      if (url) resolve(url)
      else if (/"level":"(error|fatal)"/.test(line)) console.error(line)
    })
  })
}
