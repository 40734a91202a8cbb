// The list of an endpoint's deliveries by status reads few rows, however many others the endpoint has.
import { expect, it, vi } from 'vitest'
import { ask } from './ask.ts'
import { openRig, type Rig } from './rig.ts'

const many = 20_000
const query = `query ($id: ID!, $status: DeliveryStatus) {
  webhook(id: $id) { deliveries(first: 10, status: $status) { nodes { id } } }
}`

/** Adds delivered ones, and before them `n` each of the other statuses. */
async function addDeliveries({ app: { pool } }: Rig, endpointId: string, n: number): Promise<void> {
  const add = (count: number, status: string, hours: number) =>
    pool.query(
      `insert into webhook_deliveries (id, "endpointId", "eventId", type, status, "nextAttemptAt", "createdAt")
       select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', $2::delivery_status,
         case when $2 in ('pending', 'retrying') then now() end, now() - make_interval(hours => $3) + i * interval '1 millisecond'
       from generate_series(1, $4) i`,
      [endpointId, status, hours, count],
    )
  for (const status of ['failed', 'pending', 'retrying']) await add(n, status, 2)
  await add(many, 'delivered', 1)
  await pool.query('analyze webhook_deliveries')
}

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** The rows that the scans of a plan read. */
function rowsRead({ Plans = [], ...plan }: Plan): number {
  if (Plans.length > 0) return Plans.reduce((sum, below) => sum + rowsRead(below), 0)
  return (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
}

it.each(['failed', 'pending', 'retrying'])(
  'a page of the deliveries that are %s does not read those that are delivered',
  async (status) => {
    const rig = await openRig({ working: false })
    const { id } = await rig.endpoint('https://127.0.0.1/in')
    await addDeliveries(rig, id, 3)
    const spy = vi.spyOn(rig.app.pool, 'query')
    const { data } = await ask(rig, query, { id, status })
    const calls = spy.mock.calls as unknown as [{ text: string; values: unknown[] }][]
    spy.mockRestore()
    expect(data.webhook.deliveries.nodes).toHaveLength(3)
    const list = calls.map(([call]) => call).find(({ text }) => text?.includes('webhook_deliveries'))
    const { rows } = await rig.app.pool.query(`explain (analyze, format json) ${list?.text}`, list?.values)
    expect(rowsRead(rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(many / 100)
  },
)
