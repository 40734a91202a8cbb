// The same request many times at once, each on a connection of its own, and what others noticed of it.
import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { type Gateway, node, root, watch } from '../kit/kit.ts'

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

/** Watches a gateway from another process; each call answers what was noticed since the one before. */
export function watchFrom(gateway: Gateway): () => Promise<Noticed> {
  const { port } = new URL(gateway.url)
  const child = spawn(node, ['test/promises/bystander.ts', port, String(gateway.pid)], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const bystander = watch(child)
  let looks = 0
  return async () => {
    const look = ++looks
    child.stdin.write(`${look}\n`)
    const [, json] = await bystander.line(new RegExp(`^${look} (.*)$`))
    return JSON.parse(json as string)
  }
}
