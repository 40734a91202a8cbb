// The statements that one turn of the event loop sends to PostgreSQL leave in one write.
import type { Duplex } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { Client } from '../../src/core/database/client.ts'
import { cloneDatabase } from '../kit/database.ts'

it('writes to the connection once for the statements of one turn, and once more for later ones', async () => {
  const client = new Client({ connectionString: await cloneDatabase(), pipeline: true })
  await client.connect()
  const { stream } = (client as Client & { connection: { stream: Duplex } }).connection
  const [one, many] = [vi.spyOn(stream, '_write'), vi.spyOn(stream, '_writev')]
  const writes = () => one.mock.calls.length + many.mock.calls.length
  const answers = [1, 2, 3].map((n) => client.query<{ n: number }>('select $1::int as n', [n]))
  // A statement of the same turn, after a step of a promise.
  answers.push(Promise.resolve().then(() => client.query<{ n: number }>('select 4 as n')))
  expect((await Promise.all(answers)).map(({ rows }) => rows[0]?.n)).toEqual([1, 2, 3, 4])
  expect(writes()).toBe(1)
  await client.query('select 5 as n')
  expect(writes()).toBe(2)
  await client.end()
})
