// The start of tests over HTTP: a separate database, gateways on it, and an account with a phone.
import { type Account, connectedInstance, createAccount, type TestInstance } from './accounts.ts'
import { type Api, api } from './api.ts'
import { cloneDatabase } from './database.ts'
import { type GatewayOptions, startGateway } from './gateway.ts'
import { type OpenGateway, openGateway } from './open-gateway.ts'

export interface Scene {
  databaseUrl: string
  gateways: OpenGateway[]
  account: Account
  /** Connected for 30 days. */
  phone: TestInstance
  /** A client of the account, or of another one, at the n-th gateway, modulo the number of gateways. */
  client: (n?: number, account?: { apiKey: string }) => Api
}

export interface SceneOptions {
  /** The number of gateways on the one database: the first in this process, each further one in a process of its own. */
  gateways?: number
  /** The rate limit of a key is too high to matter, unless this overrides it. */
  env?: GatewayOptions['env']
}

/** Ends with the test, or with the file when no test runs. */
export async function openScene({ gateways: count = 1, env }: SceneOptions = {}): Promise<Scene> {
  const databaseUrl = await cloneDatabase()
  const options = { databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', ...env } }
  const further = Array.from({ length: count - 1 }, () => startGateway(options))
  const gateways = await Promise.all([openGateway(options), ...further])
  const account = await createAccount(databaseUrl)
  const phone = await connectedInstance(databaseUrl, account)
  return {
    databaseUrl,
    gateways,
    account,
    phone,
    client: (n = 0, { apiKey } = account) => api(gateways[n % count] as OpenGateway, apiKey),
  }
}
