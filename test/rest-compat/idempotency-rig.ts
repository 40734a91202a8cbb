// What tests of Idempotency-Key begin with: two processes on one database, and a phone that is away, so that what is sent stays as it is.
import { connectedInstance, type Gateway, startGateway } from '../kit/kit.ts'
import { openOwnRig, type Rig, type Tenant } from './rig.ts'

export interface Pair {
  rig: Rig
  /** A second process on the same database. */
  second: Gateway
  asleep: Tenant
}

/** Ends with the file. */
export async function openPair(): Promise<Pair> {
  const rig = await openOwnRig()
  const second = await startGateway({ databaseUrl: rig.databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', ROLES: 'http' } })
  const { account, api } = rig.tenant
  const instance = await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' })
  return { rig, second, asleep: { account, api, instance } }
}
