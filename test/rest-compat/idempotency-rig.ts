// Rig of the Idempotency-Key tests: two processes on one database, and a disconnected instance, so that messages stay queued.
import { connectedInstance } from '../kit/accounts.ts'
import { startGateway } from '../kit/gateway.ts'
import type { OpenGateway } from '../kit/open-gateway.ts'
import { openOwnRig, type Rig, type Tenant } from './rig.ts'

export interface Pair {
  rig: Rig
  /** A second process on the same database. */
  second: OpenGateway
  asleep: Tenant
}

/** Both gateways stop at the end of the test file. */
export async function openPair(): Promise<Pair> {
  const rig = await openOwnRig()
  const second = await startGateway({ databaseUrl: rig.databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', ROLES: 'http' } })
  const { account, api } = rig.tenant
  const instance = await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' })
  return { rig, second, asleep: { account, api, instance } }
}
