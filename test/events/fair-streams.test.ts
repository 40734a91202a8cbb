// The streams of one workspace leave connections to the database for everybody else.
import { expect, it } from 'vitest'
import { announceChange, subject } from '../../src/events/live/follow.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { countedView, openHub } from './hub-rig.ts'
import { graphqlUrl, openLiveRig } from './live-rig.ts'
import { emitMany } from './rig.ts'
import { openSse } from './sse.ts'

const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
const fourteen = Array.from({ length: 14 }, (_, n) => n)

it('answers others while fourteen states of one workspace wait for the database', async () => {
  const live = await openLiveRig()
  const other = await createAccount(live.databaseUrl)
  const pool = sql(live.databaseUrl)
  const readers = await Promise.all(
    fourteen.map((n) =>
      openSse(graphqlUrl(live), { headers: live.key, body: { query: `subscription { instances { a${n}: name } }` } }),
    ),
  )
  await until(() => readers.every(({ events }) => events.length === 1))
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query(`update instances set name = 'Other' where "workspaceId" = $1`, [live.place.workspaceId])
    await holder.query('lock table instances in access exclusive mode')
    await announceChange(pool, subject('instances', live.place.workspaceId))
    await until(async () => ((await pool.query(waiting)).rowCount ?? 0) >= 3)
    const { body } = await api(live.gateway, other.apiKey).graphql('{ contacts { nodes { id } } }')
    expect(body).toEqual({ data: { contacts: { nodes: [] } } })
    expect((await pool.query(waiting)).rowCount).toBe(3)
    await holder.query('commit')
    await until(() => readers.every(({ events }) => events.length === 2))
  } finally {
    holder.release(true)
  }
})

it('reads the log for two of fourteen streams at once that resume in one workspace', async () => {
  const rig = await openHub()
  const pool = sql(rig.databaseUrl)
  await emitMany(rig.app.pool, rig.place, 3)
  await until(async () => (await pool.query('select from events')).rowCount === 3)
  const live = await rig.followLog(countedView(rig.place, 'live'), 0n)
  await until(() => live.events.length === 3)
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query('lock table events in access exclusive mode')
    const opening = fourteen.map((n) => rig.followLog({ ...countedView(rig.place, `view ${n}`) }, 0n))
    await until(async () => ((await pool.query(waiting)).rowCount ?? 0) >= 2)
    await rig.app.pool.query('select from contacts')
    expect((await pool.query(waiting)).rowCount).toBe(2)
    await holder.query('commit')
    const readers = await Promise.all(opening)
    await until(() => readers.every(({ events }) => events.length === 3))
  } finally {
    holder.release(true)
  }
})
