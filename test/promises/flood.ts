// Sends the same request many times at once, each on its own connection, and measures the effect on other callers.
import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { expect } from 'vitest'
import { node, root } from '../kit/environment.ts'
import { type Gateway, watch } from '../kit/gateway.ts'
import { holdingsOf } from '../kit/holdings.ts'

export interface Shot {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: Buffer
}

/** Sends every request and waits until all are answered; returns their statuses, 0 where the connection ended without one. */
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
      // The server may close a connection whose body it stopped reading; an answer that came before that counts.
      response.on('error', () => {}).resume()
    })
    sent.on('error', () => {}).on('close', () => resolve(status))
    sent.end(body)
  })
}

export interface Noticed {
  /** The slowest answer to another caller, in ms. */
  ms: number
  /** The slowest answer of a bare server at the same time: the delay that the machine itself caused. */
  bareMs: number
  /** The highest resident memory of the gateway that was observed. */
  rssBytes: number
  /** The number of requests of the other caller. */
  asked: number
}

/** Each call returns the worst values since the previous call. */
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
/** The allowed rise of resident memory meanwhile, and of the heap that remains afterwards. */
export const mostBytes = 150e6
const staysBytes = 20e6

/**
 * Sends a request 24 times at once, and expects that the event loop stays free, that memory rises little, and that little of it
 * remains. It prints the measurements.
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
  // Measured in processor time, which does not depend on other load on the machine; the delay of others is printed beside it.
  expect(after.heldMs).toBeLessThan(slowestMs)
  expect(after.heapBytes - before.heapBytes).toBeLessThan(staysBytes)
  expect(roseBytes).toBeLessThan(mostBytes)
}

function countsOf(statuses: number[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(statuses, String)].map(([status, all]) => [status, all.length]))
}
