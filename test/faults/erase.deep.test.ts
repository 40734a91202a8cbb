// An erasure, and the end of an account, whose worker is killed between two batches: another worker finishes it.
import { expect, it } from 'vitest'
import { newPerson, password } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openStage } from './rig.ts'

const messages = 2_500
const rowsOf = `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety, "acceptedAt", "sentAt")
  select gen_random_uuid(), $1, $2, $3, 'text', $4, $4, 'hello', 'read', '{}', now(), now() from generate_series(1, ${messages})`

const count = async (databaseUrl: string, workspaceId: string) =>
  (await sql(databaseUrl).query('select from messages where "workspaceId" = $1', [workspaceId])).rowCount

it('finishes an erasure after kill -9 between two batches, and takes nothing of others', { timeout: 120_000 }, async () => {
  const { databaseUrl, account, sure, start } = await openStage()
  const [phone, other] = ['+4915112345001', '+4915112345002']
  for (const to of [phone, other]) await sql(databaseUrl).query(rowsOf, [account.workspaceId, account.userId, sure.id, to])
  const doomed = await start({ FAILPOINT: 'erase.between_batches:2=kill' })
  const { body } = await api(doomed, account.apiKey).post('contacts', { name: 'Ada', phone })
  const answer = await api(doomed, account.apiKey)
    .delete(`contacts/${body.data.id}?erase=true`)
    .catch(() => null)
  if (answer) expect(answer.status).toBe(200)
  expect((await doomed.exited).signal).toBe('SIGKILL')
  expect(await count(databaseUrl, account.workspaceId)).toBe(2 * messages - 1_000)
  await start()
  await until(async () => (await count(databaseUrl, account.workspaceId)) === messages, { timeoutMs: 60_000 })
  expect((await sql(databaseUrl).query('select from messages where peer = $1', [other])).rowCount).toBe(messages)
})

it('deletes all of an account after kill -9 between two batches', { timeout: 120_000 }, async () => {
  const { databaseUrl, account, sure, start } = await openStage()
  await sql(databaseUrl).query(rowsOf, [account.workspaceId, account.userId, sure.id, '+4915112345001'])
  const doomed = await start({ FAILPOINT: 'account.between_batches:2=kill' })
  const person = await newPerson(doomed, databaseUrl)
  const instance = await connectedInstance(databaseUrl, person)
  await sql(databaseUrl).query(rowsOf, [person.workspaceId, person.userId, instance.id, '+4915112345002'])
  const answer = await person.api.delete('/api/me', { password })
  expect(answer.status).toBe(200)
  expect((await doomed.exited).signal).toBe('SIGKILL')
  expect(await count(databaseUrl, person.workspaceId)).toBe(messages - 2_000)
  await start()
  const users = async () => (await sql(databaseUrl).query('select from users where id = $1', [person.userId])).rowCount
  await until(async () => (await users()) === 0, { timeoutMs: 90_000 })
  expect(await count(databaseUrl, person.workspaceId)).toBe(0)
  expect(await count(databaseUrl, account.workspaceId)).toBe(messages)
})
