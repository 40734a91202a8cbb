// How long the client of an answer may read nothing: longer where the parts of the answer come from the database.
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, it } from 'vitest'
import { boundStall } from '../../src/core/http/connection.ts'
import { sendCsv } from '../../src/core/http/csv-answer.ts'

function responseOf() {
  const times: number[] = []
  return { times, raw: { setTimeout: (ms: number) => void times.push(ms) } as unknown as ServerResponse }
}

it('is 5 s for an ordinary answer, and 15 s for a file that is read from the database meanwhile', async () => {
  const [ordinary, file] = [responseOf(), responseOf()]
  boundStall(ordinary.raw)
  const reply = { raw: file.raw, headers: () => {}, send: async () => boundStall(file.raw) } as unknown as FastifyReply
  async function* pages() {
    yield [['one']]
  }
  await sendCsv({ method: 'GET' } as FastifyRequest, reply, { name: 'file', titles: ['column'], pages: pages() })
  expect([ordinary.times, file.times]).toEqual([[5_000], [15_000]])
})
