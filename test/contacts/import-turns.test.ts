// Imports are stored in turns, so that they leave connections to the database to others.
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { newTenant, openOwnRig } from '../rest-compat/rig.ts'

it('imports that are being stored take three connections of a process, however many are asked for', async () => {
  const { databaseUrl, gateway, tenant } = await openOwnRig()
  const others = await Promise.all([1, 2, 3].map(() => newTenant(gateway, databaseUrl)))
  const waiting = async () => {
    const { rows } = await sql(databaseUrl).query<{ n: number }>(
      `select count(*)::int as n from pg_locks where not granted and locktype in ('relation', 'advisory')
         and database = (select oid from pg_database where datname = current_database())`,
    )
    return rows[0]?.n
  }
  const holder = await sql(databaseUrl).connect()
  const asked: Promise<unknown>[] = []
  try {
    await holder.query('begin; lock table import_pieces in access exclusive mode')
    const document = 'mutation ($csv: String!) { importContacts(input: { csv: $csv }) { id } }'
    for (const { api } of [tenant, ...others])
      for (let n = 0; n < 3; n++) asked.push(api.graphql(document, { csv: 'name,phone\n' }))
    await until(async () => (await waiting()) === 3)
    for (let n = 0; n < 3; n++) expect((await tenant.api.get('messages')).status).toBe(200)
    expect(await waiting()).toBe(3)
  } finally {
    await holder.query('rollback')
    holder.release()
    await Promise.all(asked)
  }
})
