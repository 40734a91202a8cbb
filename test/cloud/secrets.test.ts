// The secrets of an instance on Meta's Cloud API stand in no row, log, answer, event or metric.
import { expect, it } from 'vitest'
import { sql, until } from '../kit/kit.ts'
import { openRig } from './rig.ts'

it('are nowhere in the clear, whatever happens to the instance', async () => {
  const rig = await openRig({ LOG_LEVEL: 'trace', CLOUD_HEALTH_SECONDS: '1' })
  const { standIn, databaseUrl } = rig
  const answers: unknown[] = []
  const number = standIn.addNumber({ pin: '918273', platform: 'NOT_APPLICABLE' })
  const verifyToken = 'verify-me-in-secret'
  const secrets = [number.accessToken, number.appSecret, '918273', verifyToken]
  const settings = { ...standIn.settingsOf(number), verifyToken }
  const keyed = { 'idempotency-key': 'once' }
  const created = await rig.api.post('instances', { name: 'Shop', provider: 'cloud', settings }, keyed)
  const id: string = created.body.data.id
  const wrong = await rig.api.post('instances', { name: 'Shop', provider: 'cloud', settings: { ...settings, colour: 'red' } })
  await rig.connect(id)
  const details = `Malformed access token ${secrets.join(' ')}`
  for (const code of [100, 131031, 130429, 190]) {
    standIn.addFault({ on: new RegExp(`POST ${number.id}/messages`), effect: { code, details } })
    const message = await rig.send(id, {})
    await until(async () => (await rig.row(message)).attempts > 0)
    await rig.settled(message)
    answers.push((await rig.api.get(`messages/${message}`)).body)
  }
  await until(async () => (await rig.state(id)).status === 'disconnected')
  answers.push(
    created.body,
    wrong.body,
    (await rig.api.get('instances')).body,
    (await rig.api.get(`instances/${id}/health`)).body,
  )
  answers.push((await rig.api.get('events')).body, await (await fetch(`${rig.gateway.url}/metrics`)).text())
  answers.push((await rig.api.post(`instances/${id}/logout`)).body)

  const pool = sql(databaseUrl)
  const { rows: tables } = await pool.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'pgboss')`,
  )
  const found: string[] = []
  const patterns = secrets.flatMap((secret) => [`%${secret}%`, `%${Buffer.from(secret).toString('hex')}%`])
  for (const { name } of tables) {
    const { rows } = await pool.query(`select t::text as row from ${name} t where t::text like any($1) limit 1`, [patterns])
    for (const { row } of rows) found.push(`${name} has ${row}`)
  }
  for (const secret of secrets) {
    if (JSON.stringify(answers).includes(secret)) found.push(`an answer has ${secret}`)
    if (rig.gateway.logs.some((line) => line.includes(secret))) found.push(`a log has ${secret}`)
  }
  expect(found).toEqual([])
  expect(tables.length).toBeGreaterThan(30)
  expect(rig.gateway.logs.length).toBeGreaterThan(1)
})
