// An Idempotency-Key whose row is locked for too long, for example by a process that froze in the middle of a transaction.
import { beforeAll, expect, it } from 'vitest'
import { codeOf, failure } from '../../src/core/errors.ts'
import { keepFailure, write } from '../../src/core/idempotency/idempotency.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { sql } from '../kit/database.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { expectRefusal, openRig, type Rig, type Tenant, text } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

it('refuses the request with that key, and accepts concurrent ones without it', async () => {
  const { api, account } = rig.tenant
  const holder = await sql(rig.databaseUrl).connect()
  try {
    await holder.query('begin')
    await holder.query(`insert into idempotency_keys ("workspaceId", key, fingerprint) values ($1, 'held', '\\x00')`, [
      account.workspaceId,
    ])
    const send = (headers = {}) => api.post('messages/send', text(rig.tenant), headers)
    const [held, ...others] = await Promise.all([send({ 'idempotency-key': 'held' }), send(), send(), send()])
    expectRefusal(held as Awaited<ReturnType<typeof send>>, 409, 'IDEMPOTENCY_IN_PROGRESS')
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201])
  } finally {
    await holder.query('rollback')
    holder.release()
  }
})

it('refuses nothing of another account that uses its own keys at the same moment', async () => {
  const app = await openApp(rig.databaseUrl)
  const holder = await sql(rig.databaseUrl).connect()
  const send = (tenant: Tenant, key: string) => {
    const idempotency = { key, fingerprint: Buffer.from(key), replayed: false }
    return sendMessage({ ...contextFor(app, tenant.account), idempotency }, text(tenant)).then(
      () => 'accepted',
      (error: Error) => codeOf(error),
    )
  }
  try {
    await holder.query('begin')
    await holder.query(`insert into idempotency_keys ("workspaceId", key, fingerprint) values ($1, 'in use', '\\x00')`, [
      rig.tenant.account.workspaceId,
    ])
    const answers = await Promise.all([send(rig.tenant, 'in use'), send(rig.stranger, 'one'), send(rig.stranger, 'two')])
    expect(answers).toEqual(['IDEMPOTENCY_IN_PROGRESS', 'accepted', 'accepted'])
  } finally {
    await holder.query('rollback')
    holder.release()
  }
})

it('does not mark a refusal as replayed when the stored answer differs', async () => {
  const app = await openApp(rig.databaseUrl)
  const idempotency = { key: 'both', fingerprint: Buffer.from('same'), replayed: false }
  const ctx = { ...contextFor(app, rig.tenant.account), idempotency }
  await write({ ...ctx, idempotency: { ...idempotency } }, async () => 'done')
  const refusal = failure('INVALID_STATE', 'Done already')
  expect(await keepFailure(ctx, refusal)).toBe(refusal)
  expect(idempotency.replayed).toBe(false)
})
