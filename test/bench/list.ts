// list: GraphQL lists per second of 20 messages with contact and instance, against PostGraphile 5 on the same database.
import { isDeepStrictEqual } from 'node:util'
import { newId } from '../../src/core/id.ts'
import type { Figures } from './accept.ts'
import { type Account, load, median, medianRatio, openStage, type Running, type Stage } from './stage.ts'

const connections = 32
const accounts = 16
const messages = 1_000
const rounds = 5
const seconds = 1

const fields = 'status type to body createdAt'
const relations = {
  ours: 'contact { id name phone } instance { id name status }',
  theirs: 'contact: contactByContactId { id: rowId name phone } instance: instanceByInstanceId { id: rowId name status }',
}
const list = `query List($first: Int!) {
  messages(first: $first) { nodes { id ${fields} ${relations.ours} } pageInfo { hasNextPage } }
}`
// PostGraphile has no credentials here, so the workspace is a condition.
const sameList = `query List($first: Int!, $workspaceId: UUID!) {
  messages: allMessages(first: $first, orderBy: [CREATED_AT_DESC, ROW_ID_DESC], condition: { workspaceId: $workspaceId }) {
    nodes { id: rowId ${fields} ${relations.theirs} } pageInfo { hasNextPage }
  }
}`

export async function benchList(): Promise<Figures[]> {
  await using stage = await openStage(accounts)
  for (const account of stage.accounts) await fill(stage, account)
  await stage.pool.query('analyze')
  await using gateway = await stage.start('src/main.ts', { ROLES: 'http' })
  await using baseline = await stage.start('test/bench/programs/postgraphile.js', {
    NODE_ENV: 'production',
    GRAPHILE_ENV: 'production',
  })
  await expectSame(stage, gateway, baseline)
  const rates = { baseline: [] as number[], gateway: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const theirs = await load({
      url: baseline.url,
      path: '/graphql',
      connections,
      seconds,
      requests: stage.accounts.map(askThem),
    })
    const ours = await load({ url: gateway.url, path: '/graphql', connections, seconds, requests: stage.accounts.map(askUs) })
    if (ours.failed + theirs.failed > 0) throw new Error(`${ours.failed} and ${theirs.failed} lists failed`)
    console.error(
      `list ${round === 0 ? 'warm-up' : `round ${round}`}: PostGraphile ${Math.round(theirs.rate)}/s, gateway ${Math.round(ours.rate)}/s`,
    )
    if (round === 0) continue
    rates.baseline.push(theirs.rate)
    rates.gateway.push(ours.rate)
  }
  const [theirs, ours] = [median(rates.baseline), median(rates.gateway)]
  return [
    {
      name: 'list',
      unit: 'lists/s',
      baseline: theirs,
      gateway: ours,
      ratio: medianRatio(rates.baseline, rates.gateway),
      target: '≥ 1.5 ×',
    },
  ]
}

export function askUs({ apiKey }: Account) {
  return {
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify({ query: list, variables: { first: 20 } }),
  }
}

export function askThem({ workspaceId }: Account) {
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: sameList, variables: { first: 20, workspaceId } }),
  }
}

/** Both servers must return the same nodes; otherwise their speeds cannot be compared. */
async function expectSame(stage: Stage, gateway: Running, baseline: Running): Promise<void> {
  const account = stage.accounts[0] as Account
  const [ours, theirs] = await Promise.all([ask(gateway, askUs(account)), ask(baseline, askThem(account))])
  if (ours.length === 20 && isDeepStrictEqual(ours, theirs)) return
  throw new Error(`The lists differ: ${JSON.stringify(ours.slice(0, 1))} and ${JSON.stringify(theirs.slice(0, 1))}`)
}

/** The nodes of an answer, with enums and times in the spelling of the gateway. */
async function ask(running: Running, request: ReturnType<typeof askUs | typeof askThem>): Promise<object[]> {
  const response = await fetch(`${running.url}/graphql`, { method: 'POST', ...request })
  const { data, errors } = (await response.json()) as {
    data?: { messages: { nodes: Record<string, unknown>[] } }
    errors?: unknown
  }
  if (!data) throw new Error(JSON.stringify(errors))
  return data.messages.nodes.map(({ status, type, createdAt, instance, ...rest }) => ({
    ...rest,
    status: String(status).toLowerCase(),
    type: String(type).toLowerCase(),
    createdAt: new Date(String(createdAt)).toISOString(),
    instance: { ...(instance as object), status: String((instance as { status: unknown }).status).toLowerCase() },
  }))
}

export async function fill({ pool }: Stage, { workspaceId, userId, instanceId }: Account): Promise<void> {
  const contacts = Array.from({ length: 100 }, (_, i) => ({ id: newId(), phone: `+39333${2_000_000 + i}`, name: `Contact ${i}` }))
  await pool.query(
    `insert into contacts (id, "workspaceId", name, phone, tags) select id, $1, name, phone, '{}' from jsonb_to_recordset($2) as c(id uuid, name text, phone text)`,
    [workspaceId, JSON.stringify(contacts)],
  )
  await pool.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "from", "to", peer, body, status, warnings, safety, "createdAt", "updatedAt")
     select gen_random_uuid(), $1, $2, $3, ($4::uuid[])[1 + n % 100], 'text', '+393330000000', '+393332000000', '+393332000000',
       'A message of an ordinary length, as people write them.', 'read', '{}',
       '{"decision":"allow","riskLevel":"low","state":"stable","score":100}', now() - n * interval '1 minute', now()
     from generate_series(1, $5) n`,
    [workspaceId, userId, instanceId, contacts.map(({ id }) => id), messages],
  )
}
