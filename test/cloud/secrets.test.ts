// The secrets of an instance on Meta's Cloud API stand in no row, log, answer, event, metric or line of a command.
import { expect, it } from 'vitest'
import { command } from '../kit/command.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { messageOf } from './hook-rig.ts'
import { openRig, type Rig } from './rig.ts'
import type { MetaNumber, Taken } from './stand-in.ts'
import { envelope, post, statusOf } from './stand-in-hooks.ts'

const verifyToken = 'verify-me-in-secret'

async function openStage() {
  const env = { LOG_LEVEL: 'trace', ACCESS_LOG: '1', CLOUD_HEALTH_SECONDS: '1', PUBLIC_URL: 'https://gateway.example' }
  const rig = await openRig(env)
  const number = rig.standIn.addNumber({ pin: '918273', platform: 'NOT_APPLICABLE' })
  const settings = { ...rig.standIn.settingsOf(number), verifyToken }
  const given = [number.accessToken, number.appSecret, '918273', verifyToken]
  // Meta's words repeat all of them.
  const details = `Malformed access token ${given.join(' ')}`
  return { rig, number, settings, secrets: [...given, 'EAArotated-in-secret', 'EAA not a token'], details }
}

type Fails = (on: RegExp, code: number) => void

/** Everything that can go wrong with a message, a file, a mark as read or a list of templates. Returns the answers of our API. */
async function useOf(rig: Rig, id: string, number: MetaNumber, fails: Fails, details: string): Promise<unknown[]> {
  const answers: unknown[] = []
  const messages = new RegExp(`POST ${number.id}/messages`)
  const media = rig.standIn.addMedia(number, 'image/png', Buffer.from('no picture'))
  fails(new RegExp(`GET ${media.id}`), 100)
  const received = [messageOf('image', { id: media.id }), messageOf('text', { body: 'hello' })]
  const url = `${rig.gateway.url}/providers/cloud/${id}`
  expect(await post(url, number.appSecret, envelope([{ number, messages: received }]))).toBe(200)
  const inbound = await until(async () => {
    const { messages } = (await rig.api.get('messages?direction=inbound')).body.data
    return messages.length === 2 && messages
  })
  fails(messages, 100)
  answers.push((await rig.api.post(`messages/${inbound[0].id}/read`)).body)
  await until(() => rig.standIn.count(messages) === 1)
  fails(/message_templates/, 100)
  answers.push((await rig.api.post('templates/import', { instanceId: id })).body)
  const sent = await rig.send(id, {})
  await rig.settled(sent)
  const taken = rig.standIn.messages.find((message) => message.biz_opaque_callback_data === sent) as Taken
  const failed = statusOf(taken, 'failed', { errors: [{ code: 131000, error_data: { details } }] })
  expect(await post(url, number.appSecret, envelope([{ number, statuses: [failed] }]))).toBe(200)
  expect(await rig.settled(sent, 'failed')).toMatchObject({ errorDetail: expect.stringContaining('Malformed') })
  for (const code of [100, 131031, 130429, 190]) {
    fails(messages, code)
    const message = await rig.send(id, {})
    await until(async () => (await rig.row(message)).attempts > 0)
    await rig.settled(message)
    answers.push((await rig.api.get(`messages/${message}`)).body)
  }
  return answers
}

/** Right and wrong callers of the webhook. */
async function callers(rig: Rig, id: string): Promise<unknown[]> {
  const url = `${rig.gateway.url}/providers/cloud/${id}`
  const right = new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.challenge': '1', 'hub.verify_token': verifyToken })
  const answers = [await fetch(`${url}?${right}`), await fetch(`${url}/x?${right}`)]
  answers.push(await fetch(url, { method: 'POST', body: '{}', headers: { 'x-hub-signature-256': `sha256=${verifyToken}` } }))
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 401])
  return await Promise.all(answers.map((answer) => answer.text()))
}

async function rowsWith(databaseUrl: string, secrets: readonly string[]): Promise<string[]> {
  const pool = sql(databaseUrl)
  const { rows: tables } = await pool.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'pgboss')`,
  )
  expect(tables.length).toBeGreaterThan(30)
  const patterns = secrets.flatMap((secret) => [`%${secret}%`, `%${Buffer.from(secret).toString('hex')}%`])
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await pool.query(`select t::text as row from ${name} t where t::text like any($1) limit 1`, [patterns])
    for (const { row } of rows) found.push(`${name} has ${row}`)
  }
  return found
}

it('are nowhere in the clear, whatever happens to the instance', async () => {
  const { rig, number, settings, secrets, details } = await openStage()
  const { standIn, databaseUrl } = rig
  const fails: Fails = (on, code) => standIn.addFault({ on, effect: { code, details } })
  const answers: unknown[] = []
  const keyed = { 'idempotency-key': 'once' }
  await rig.api.post('webhooks', { url: 'http://127.0.0.1:9/hook', events: ['message.failed', 'message.received'] })
  const created = await rig.api.post('instances', { name: 'Shop', provider: 'cloud', settings }, keyed)
  const id: string = created.body.data.id
  const wrong = [
    { ...settings, colour: 'red' },
    { ...settings, accessToken: 'EAA not a token' },
  ]
  for (const each of wrong)
    answers.push((await rig.api.post('instances', { name: 'Shop', provider: 'cloud', settings: each })).body)
  fails(/subscribed_apps/, 100)
  expect(await rig.connect(id)).toMatchObject({ status: 'connected', lastError: expect.stringMatching(/^the webhooks/) })
  answers.push(...(await useOf(rig, id, number, fails, details)), ...(await callers(rig, id)))
  await until(async () => (await rig.state(id)).status === 'disconnected')
  const rotated = { accessToken: 'EAArotated-in-secret' }
  number.accessToken = rotated.accessToken
  answers.push((await rig.api.put(`instances/${id}`, { settings: { accessToken: 'EAA not a token' } })).body)
  answers.push((await rig.api.put(`instances/${id}`, { settings: rotated }, keyed)).body)
  await until(async () => (await rig.state(id)).status === 'connected')
  answers.push((await command(['instance', 'list', '--json'], { databaseUrl })).stdout, created.body)
  answers.push((await rig.api.get('instances')).body, (await rig.api.get(`instances/${id}/health`)).body)
  answers.push((await rig.api.graphql('{ instances { settings lastError callbackUrl } }')).body)
  answers.push((await rig.api.get('events')).body, await (await fetch(`${rig.gateway.url}/metrics`)).text())
  // The token of a departure waits in its row.
  standIn.addFault({ on: /DELETE .*subscribed_apps/, effect: { code: 2, details }, times: 50 })
  answers.push((await rig.api.post(`instances/${id}/logout`)).body)
  await until(() => standIn.count(/DELETE .*subscribed_apps/) > 0)

  const found = await rowsWith(databaseUrl, secrets)
  for (const secret of secrets) {
    if (JSON.stringify(answers).includes(secret)) found.push(`an answer has ${secret}`)
    if (rig.gateway.logs.some((line) => line.includes(secret))) found.push(`a log has ${secret}`)
  }
  expect(found).toEqual([])
  expect((await sql(databaseUrl).query('select from cloud_departures')).rowCount).toBe(1)
  expect(rig.gateway.logs.length).toBeGreaterThan(1)
})
