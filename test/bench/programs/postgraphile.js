// The baseline of `list`: PostGraphile 5 on the same database, as its own documentation sets it up for production.
import { createServer } from 'node:http'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { grafserv } from 'postgraphile/grafserv/node'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  // A table of ours has the name of the type that it would make.
  disablePlugins: ['SubscriptionPlugin'],
  pgServices: [makePgService({ connectionString: process.env.DATABASE_URL, poolConfig: { max: 10 } })],
  grafserv: { graphiql: false, watch: false },
  grafast: { explain: false },
})
const http = createServer()
await instance.createServ(grafserv).addTo(http)
http.listen(0, '127.0.0.1', () => console.log(`postgraphile on http://127.0.0.1:${http.address().port}`))
process.on('SIGTERM', () => process.exit(0))
