// The same request many times at once, each on a connection of its own, and what others noticed of it.
import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { expect } from 'vitest'
import { type Gateway, holdingsOf, node, root, watch } from '../kit/kit.ts'

export interface Shot {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: Buffer
}

/** Fires each and waits until all were answered; answers their statuses, 0 where the connection ended without one. */
export async function fire(gateway: { url: string }, shots: readonly Shot[]): Promise<number[]> {
  return await Promise.all(shots.map((shot) => fireOne(gateway, shot)))
}

function fireOne({ url }: { url: string }, { method = 'POST', path, headers = {}, body }: Shot): Promise<number> {
  return new Promise((resolve) => {
    const length = body ? { 'content-length': String(body.length) } : {}
    const options = { method, agent: false, headers: { 'content-type': 'application/json', ...length, ...headers } }
    let status = 0
    const sent = request(new URL(path, url), options, (response) => {
      status = response.statusCode as number
      // A connection may be closed under a body that is not read any more; an answer that came before that counts.
      response.on('error', () => {}).resume()
    })
    sent.on('error', () => {}).on('close', () => resolve(status))
    sent.end(body)
  })
}

export interface Noticed {
  /** The slowest answer to somebody else, in ms. */
  ms: number
  /** The slowest answer of a bare server at the same time: what the machine itself was late by. */
  bareMs: number
  /** The most memory that the gateway was seen to have. */
  rssBytes: number
  /** How often somebody else asked. */
  asked: number
}

/** Each call answers what was noticed since the one before. */
export interface Watch {
  (): Promise<Noticed>
  stop: () => void
}

/** Watches a gateway from another process. */
export function watchFrom(gateway: Gateway): Watch {
  const { port } = new URL(gateway.url)
  const child = spawn(node, ['test/promises/bystander.ts', port, String(gateway.pid)], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const bystander = watch(child)
  let looks = 0
  async function noticed(): Promise<Noticed> {
    const look = ++looks
    child.stdin.write(`${look}\n`)
    const [, json] = await bystander.line(new RegExp(`^${look} (.*)$`))
    return JSON.parse(json as string)
  }
  return Object.assign(noticed, { stop: () => void child.kill() })
}

const atOnce = 24
const slowestMs = 250
/** How far resident memory may rise meanwhile, and what may stay of it on the heap. */
export const mostBytes = 150e6
const staysBytes = 20e6

/**
 * Sends a shot many times at once, and expects that nobody else had to wait, that memory rose little, and that nothing of it stays. It prints
 * what was measured.
 */
export async function expectHarmless(
  gateway: Gateway,
  noticed: Watch,
  name: string,
  statuses: readonly number[],
  shot: (i: number) => Shot,
): Promise<void> {
  const shots = Array.from({ length: atOnce }, (_, i) => shot(i))
  const before = await holdingsOf(gateway)
  await noticed()
  const answered = await fire(gateway, shots)
  const worst = await noticed()
  const after = await holdingsOf(gateway)
  const roseBytes = worst.rssBytes - before.rssBytes
  const megabytes = (bytes: number) => Math.round(bytes / 1e6)
  console.log(
    `${name}: others waited ${worst.ms.toFixed(0)} ms (a bare server ${worst.bareMs.toFixed(0)} ms), the loop was held ${after.heldMs.toFixed(0)} ms, +${megabytes(roseBytes)} MB, then ${megabytes(after.heapBytes - before.heapBytes)} MB of heap; ${JSON.stringify(countsOf(answered))}`,
  )
  expect(worst.asked).toBeGreaterThan(0)
  expect(answered.filter((status) => !statuses.includes(status))).toEqual([])
  // In processor time, which does not depend on what else the machine is busy with; the wait of others is printed beside it.
  expect(after.heldMs).toBeLessThan(slowestMs)
  expect(after.heapBytes - before.heapBytes).toBeLessThan(staysBytes)
  expect(roseBytes).toBeLessThan(mostBytes)
}

function countsOf(statuses: number[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(statuses, String)].map(([status, all]) => [status, all.length]))
}
