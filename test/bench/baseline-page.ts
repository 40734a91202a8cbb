// The baseline of `contacts-page`: a bare Fastify route with the SELECT of the same page and an equal pool.
import Fastify from 'fastify'
import pg from 'pg'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const http = Fastify()

const contact = 'c.id, c.name, c."firstName", c."lastName", c.phone, c.email, c.tags, c.custom, c."createdAt", c."updatedAt"'

interface Asked {
  /** The id of the workspace, or of the group. */
  of: string
  sort: string
  value: string
  id: string
}

http.get('/page', async (request) => {
  const { of, sort, value, id } = request.query as Asked
  const [field, direction] = sort.split(':') as [string, string]
  const than = direction === 'asc' ? '>' : '<'
  const text =
    field === 'addedAt'
      ? `select c.id, c.name, c.phone, c.tags, m."addedAt" from contact_group_members m join contacts c on c.id = m."contactId"
         where m."groupId" = $1 and (m."addedAt", m."contactId") < ($2, $3) order by m."addedAt" desc, m."contactId" desc limit 51`
      : `select ${contact} from contacts c where c."workspaceId" = $1 and (c."${field}", c.id) ${than} ($2, $3)
         order by c."${field}" ${direction}, c.id ${direction} limit 51`
  const { rows } = await pool.query(text, [of, value, id])
  return { data: rows }
})

console.log(`baseline on ${await http.listen({ port: 0, host: '127.0.0.1' })}`)
process.on('SIGTERM', () => process.exit(0))
