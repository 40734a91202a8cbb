// Which pages a browser lets call the gateway: those of its public address and of the console.
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase, type Gateway, startGateway } from '../kit/kit.ts'

let gateway: Gateway

beforeAll(async () => {
  const env = { PUBLIC_URL: 'https://api.example.com', CONSOLE_URL: 'https://console.example.com/app' }
  gateway = await startGateway({ databaseUrl: await cloneDatabase(), env })
})

async function preflight(origin: string): Promise<Record<string, string | null>> {
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-team-id',
  }
  const answer = await fetch(`${gateway.url}/api/auth/login`, { method: 'OPTIONS', headers })
  const told = (name: string) => answer.headers.get(`access-control-allow-${name}`)
  return { origin: told('origin'), credentials: told('credentials'), headers: told('headers') }
}

describe('a page', () => {
  it.each(['https://api.example.com', 'https://console.example.com'])('of %s may call, with the cookie', async (origin) => {
    expect(await preflight(origin)).toEqual({ origin, credentials: 'true', headers: 'authorization,content-type,x-team-id' })
  })

  it.each(['https://evil.example', 'http://console.example.com', 'https://console.example.com.evil.example', 'null'])(
    'of %s may not',
    async (origin) => {
      expect((await preflight(origin)).origin).toBeNull()
    },
  )
})
