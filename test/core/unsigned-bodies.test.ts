// Proves that large bodies without a credential take no memory from callers that have one.
import { once } from 'node:events'
import net from 'node:net'
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'

/** Announces the largest body of Meta's webhook, and sends none of it. */
async function announce(port: number, localAddress: string): Promise<void> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
  atEnd('test', async () => void socket.destroy())
  await once(socket, 'connect')
  const head = `POST /providers/cloud/x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${3 * 1024 ** 2}\r\n\r\n`
  await new Promise((resolve) => socket.write(head, resolve))
}

it('serves large requests with a key while strangers announce more than the process may hold', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl })
  const { apiKey } = await createAccount(databaseUrl)
  const port = Number(new URL(gateway.url).port)
  for (let network = 2; network < 12; network++)
    await Promise.all(Array.from({ length: 5 }, () => announce(port, `127.0.0.${network}`)))
  const { status, body } = await api(gateway, apiKey).graphql(`{ plans { name } } # ${'x'.repeat(200_000)}`)
  expect([status, body.errors]).toEqual([200, undefined])
})
