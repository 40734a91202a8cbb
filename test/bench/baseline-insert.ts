// The baseline of `accept` and `dispatch`: a bare Fastify route with one INSERT of the same row a request and an equal pool.
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const http = Fastify()

interface Body {
  workspaceId: string
  userId: string
  instanceId: string
  to: string
  text: string
}

http.post('/insert', async (request, reply) => {
  const { workspaceId, userId, instanceId, to, text } = request.body as Body
  const { rows } = await pool.query({
    name: 'insert',
    text: `insert into messages (id, "workspaceId", "userId", "instanceId", type, "from", "to", peer, body, warnings, safety, "countedPeriod", "dueAt", "createdAt", "updatedAt")
      values ($1, $2, $3, $4, 'text', '+393330000000', $5, $5, $6, '{}', $7, date_trunc('month', now() at time zone 'utc')::date, now(), now(), now())
      returning *`,
    values: [
      randomUUID(),
      workspaceId,
      userId,
      instanceId,
      to,
      text,
      '{"decision":"allow","riskLevel":"low","state":"stable","score":100}',
    ],
  })
  return await reply.code(201).send({ data: rows[0] })
})

console.log(`baseline on ${await http.listen({ port: 0, host: '127.0.0.1' })}`)
process.on('SIGTERM', () => process.exit(0))
