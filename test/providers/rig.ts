// A provider made for tests, `web`: it delivers at once, has secret settings, and is called back over HTTP. Served in this process.
import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import type { App } from '../../src/core/app.ts'
import { fail } from '../../src/core/errors.ts'
import { text } from '../../src/core/validation.ts'
import { defineProvider } from '../../src/providers/define-provider.ts'
import type { ProviderHost, ProviderInstance, ProviderRequest } from '../../src/providers/provider.ts'
import { openProviders, providers } from '../../src/providers/providers.ts'
import { sandbox } from '../../src/providers/sandbox/sandbox.ts'
import { createServer } from '../../src/server.ts'
import { type Account, createAccount } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'

const settings = z.strictObject({
  token: text(1, 100),
  signingKey: text(1, 100),
  label: text(1, 20).default('echo'),
})
type Settings = z.output<typeof settings>

export const maxBodyBytes = 200_000
export const secrets = { token: 'the-secret-token', signingKey: 'the-secret-signing-key' }

/** A call of the provider: its name, and the settings that it received. */
export type Calls = [name: string, settings: unknown][]

export function echo(calls: Calls) {
  return defineProvider<Settings>({
    name: 'web',
    settings,
    secrets: { token: 'logout', signingKey: 'deletion' },
    open() {
      const note = (name: string, instance: { settings: unknown }) => calls.push([name, instance.settings])
      return {
        sendsOnce: () => true,
        reconcileMs: 100,
        async connect(instance) {
          note('connect', instance)
          return { status: 'connected', waNumber: '+15550100' }
        },
        async logout(instance) {
          note('logout', instance)
        },
        async send(instance, { messageId }) {
          note('send', instance)
          return { outcome: 'accepted', providerMessageId: `echo.${messageId}` }
        },
        async lookup(instance, numbers) {
          note('lookup', instance)
          return numbers.map(() => true)
        },
        verifyToken: ({ settings }) => settings.signingKey,
        start: async () => new AsyncDisposableStack(),
        routes: [
          {
            method: 'GET',
            path: '/:instanceId',
            answer: async ({ query }) => ({ status: 200, body: query.get('hub.challenge') ?? '' }),
          },
          { method: 'POST', path: '/:instanceId', maxBodyBytes, answer: receive },
        ],
      }
    },
  })
}

/** Takes `{ receipts, inbound }`, signed with the instance's key over the bytes. */
async function receive(request: ProviderRequest, host: ProviderHost<ProviderInstance<Partial<Settings>>>) {
  const instance = (await host.instance(request.params.instanceId as string)) ?? fail('NOT_FOUND', 'Instance not found')
  const { signingKey } = instance.settings
  if (!signingKey || request.headers['x-signature'] !== sign(request.body, signingKey)) fail('UNAUTHORIZED', 'Wrong signature')
  const { receipts = [], inbound = [] } = JSON.parse(request.body.toString())
  const at = { instanceId: instance.id, at: new Date() }
  await host.receipts(receipts.map((receipt: object) => ({ ...at, ...receipt })))
  const sender = { ...at, from: '+15550101', content: { kind: 'text' } }
  if (inbound.length > 0) await host.inbound(inbound.map((message: object) => ({ ...sender, ...message })))
  return { status: 200 }
}

export function sign(body: string | Uint8Array, key = secrets.signingKey): string {
  return createHmac('sha256', key).update(body).digest('hex')
}

export interface Rig {
  databaseUrl: string
  app: App
  /** `http://127.0.0.1:PORT` of a server in this process. */
  url: string
  account: Account
  api: Api
  calls: Calls
  /** Posts bytes to the provider's route. Signed by default. */
  callBack: (instanceId: string, body: string | Uint8Array, headers?: Record<string, string>) => Promise<Response>
}

/** An App whose providers are the sandbox and the one above, for a test file. */
export async function openRig(): Promise<Rig> {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'gateway-test-providers-'))
  const app = await openApp(databaseUrl, {
    PORT: '0',
    DATA_DIR: dataDir,
    RATE_LIMIT_PER_SECOND: '100000',
    PUBLIC_URL: 'https://gateway.example',
  })
  const calls: Calls = []
  withEcho(app, calls)
  const server = await createServer(app)
  const url = await server.listen()
  atEnd('file', async () => {
    await server.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  const callBack: Rig['callBack'] = (instanceId, body, headers = { 'x-signature': sign(body) }) =>
    fetch(`${url}/providers/web/${instanceId}`, { method: 'POST', body: Buffer.from(body), headers })
  return { databaseUrl, app, url, account, api: api({ url }, account.apiKey), calls, callBack }
}

export function withEcho(app: App, calls: Calls): void {
  providers.replace(app, openProviders(app, [sandbox, echo(calls)]))
}
