// Setup for tests of poison jobs: a database, workers that end with the test, and the notes that workers take of their jobs.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { enqueue, type JobDefinition } from '../../src/core/jobs/jobs.ts'
import { makeQueues } from '../../src/core/jobs/work.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { environment, node, root, secretKey } from '../kit/environment.ts'
import { type Running, watch } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { jobs, type Kind, mixedJob, retryLimit } from './poison-worker.ts'

export interface Scene {
  databaseUrl: string
  app: App
  startWorker: () => Promise<Running>
  /** Adds jobs one by one, `restMs` apart; returns their ids. */
  add: (definition: JobDefinition<{ id: string; kind: Kind }>, kinds: readonly Kind[], restMs?: number) => Promise<string[]>
}

export async function openScene(): Promise<Scene> {
  const databaseUrl = await cloneDatabase()
  await sql(databaseUrl).query('create table notes (what text, id text, pid int, at timestamptz default clock_timestamp())')
  const app = await openApp(databaseUrl)
  await makeQueues(app, jobs)
  return {
    databaseUrl,
    app,
    async startWorker() {
      const script = path.join(import.meta.dirname, 'poison-worker.ts')
      const env = { ...environment, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, LOG_LEVEL: 'warn' }
      const worker = watch(spawn(node, [script], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }))
      await worker.line(/^working$/)
      return worker
    },
    async add(definition, kinds, restMs = 0) {
      const ids: string[] = []
      for (const kind of kinds) {
        const id = randomUUID()
        await sql(databaseUrl).query(`insert into notes (what, id) values ('added', $1)`, [id])
        await enqueue(app, app.pool, definition, [{ data: { id, kind } }])
        ids.push(id)
        if (restMs > 0) await pause(restMs)
      }
      return ids
    },
  }
}

export interface Note {
  what: string
  id: string
  pid: number
  /** Milliseconds after the job was added. */
  afterMs: number
}

export async function notesOf({ databaseUrl }: Scene, ids: readonly string[], what?: string): Promise<Note[]> {
  const { rows } = await sql(databaseUrl).query<Note>(
    `select n.what, n.id, n.pid, (extract(epoch from n.at - a.at) * 1000)::float8 as "afterMs"
     from notes n join notes a on a.id = n.id and a.what = 'added'
     where n.id = any($1) and n.what <> 'added' and ($2::text is null or n.what = $2) order by n.at`,
    [ids, what ?? null],
  )
  return rows
}

export function p99(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] as number
}

export async function deadOf(databaseUrl: string): Promise<{ queue: string; tries: number; why: unknown }[]> {
  const { rows } = await sql(databaseUrl).query(
    `select source_name as queue, source_retry_count + 1 as tries, source_output as why from pgboss.job where name = 'job.dead' order by 1`,
  )
  return rows
}

export const good = (count: number) => Array<Kind>(count).fill('good')

/**
 * Adds that many jobs, every `each`th of which always throws, and expects that those become dead letters after their tries while the
 * others are done. Returns the 99th percentile of the others' times, in milliseconds.
 */
export async function surviveThrowing(scene: Scene, count: number, each: number): Promise<number> {
  const kinds = good(count).map((kind, i) => (i % each === each / 2 ? 'throws' : kind))
  const ids = await scene.add(mixedJob, kinds)
  const neighbours = ids.filter((_, i) => kinds[i] === 'good')
  const poison = ids.filter((_, i) => kinds[i] === 'throws')
  await until(async () => (await notesOf(scene, poison, 'given up')).length === poison.length, { timeoutMs: 60_000 })
  const done = await until(async () => {
    const notes = await notesOf(scene, neighbours, 'done')
    return new Set(notes.map(({ id }) => id)).size === neighbours.length && notes
  })
  expect(await notesOf(scene, poison, 'done')).toEqual([])
  // A job is tried with its batch and alone, at each of its tries.
  for (const id of poison) {
    const tries = (await notesOf(scene, [id], 'tried')).length
    expect(tries).toBeGreaterThanOrEqual(retryLimit + 1)
    expect(tries).toBeLessThanOrEqual(2 * (retryLimit + 1))
  }
  const dead = await deadOf(scene.databaseUrl)
  expect(dead).toEqual(poison.map(() => ({ queue: 'test.mixed', tries: retryLimit + 1, why: { error: 'poison' } })))
  return p99(done.map(({ afterMs }) => afterMs))
}
