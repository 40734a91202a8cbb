// Setup for tests in which a gateway dies around a call to Meta.
import { expect } from 'vitest'
import { type Account, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { fresh, rigOf } from './rig.ts'
import { openStandIn, type StandIn } from './stand-in.ts'

export interface Stage {
  databaseUrl: string
  standIn: StandIn
  account: Account
  env: Record<string, string>
}

export async function openStage(): Promise<Stage> {
  const [databaseUrl, standIn] = await Promise.all([cloneDatabase(), openStandIn()])
  const account = await createAccount(databaseUrl)
  return { databaseUrl, standIn, account, env: { CLOUD_API_URL: standIn.url, CLOUD_RECONCILE_SECONDS: '1' } }
}

/** Sends a message whose process dies at each failpoint. Returns how often each reached Meta, and the error that it ended with. */
export async function sendAndKill(failpoints: readonly string[]): Promise<{ sent: number; error: string | null }[]> {
  const { databaseUrl, standIn, account, env } = await openStage()
  const setup = await openGateway({ databaseUrl, env })
  const rig = rigOf(databaseUrl, standIn, setup, account)
  const phone = await rig.phone()
  await setup.stop()
  const ids: string[] = []
  for (const failpoint of failpoints) {
    const doomed = await startGateway({ databaseUrl, env: { ...env, FAILPOINT: `${failpoint}=kill` } })
    const message = { instanceId: phone.id, to: fresh(), type: 'text', text: failpoint }
    // The process may die before it answers.
    await api(doomed, account.apiKey)
      .post('messages/send', message)
      .catch(() => {})
    expect((await doomed.exited).signal).toBe('SIGKILL')
    const { rows } = await sql(databaseUrl).query('select id from messages where body = $1', [failpoint])
    ids.push(rows[0].id)
  }
  await openGateway({ databaseUrl, env })
  const ends = await Promise.all(ids.map((id) => rig.settled(id)))
  return ends.map(({ id, error }) => ({
    sent: standIn.messages.filter((message) => message.biz_opaque_callback_data === id).length,
    error,
  }))
}
