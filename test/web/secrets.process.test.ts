// The secrets that pairing makes stand in no log, row, answer, event or metric, whatever happens to the connection. The client's own libraries print
// keys to the console, which is why the gateway is a process of its own here.
import { expect, it } from 'vitest'
import { createSealer } from '../../src/core/seal.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'
const shop = '390000000091'

/** The secrets in what the client stores: each value of bytes, and the secret of the pairing. */
function secretsIn(value: unknown, name = ''): string[] {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' && /^(advSecretKey|privKey|rootKey)$/.test(name) ? [value] : []
  }
  const { type, data } = value as { type?: string; data?: string }
  if (type === 'Buffer' && typeof data === 'string') return /public|pubKey|signature|identifierKey/i.test(name) ? [] : [data]
  return Object.entries(value).flatMap(([key, inner]) => secretsIn(inner, key === '0' ? name : key))
}

it('are nowhere in the clear, whatever happens to the connection', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann)
  const gateway = await startGateway({ databaseUrl, env: { ...environmentOf(network), LOG_LEVEL: 'trace' } })
  const client = await openClient(databaseUrl, gateway)
  const id = await client.pair(network, shop)
  const answers: unknown[] = []
  const send = async (text: string) => {
    const { body } = await client.api.post('messages/send', { instanceId: id, to: `+${ann}`, type: 'text', text })
    answers.push(body)
    await until(() => network.arrived.find(({ message }) => message.extendedTextMessage?.text === text))
  }
  const receive = async (text: string) => {
    const stanzaId = await network.write(ann, shop, { conversation: text })
    await until(
      async () => (await rowsOf(databaseUrl, 'select from messages where "providerMessageId" = $1', [stanzaId])).length === 1,
    )
  }
  const secrets = new Set<string>()
  const sealer = createSealer(Buffer.from(secretKey, 'hex'))
  const collect = async () => {
    const rows = await rowsOf(databaseUrl, 'select data from web_creds union all select data from web_keys')
    for (const { data } of rows) for (const secret of secretsIn(JSON.parse(sealer.open(data).toString()))) secrets.add(secret)
  }
  await collect()
  await send('one')
  await receive('two')
  await collect()
  // Each new session closes one, which the library reports with all of its keys; so does a message that it cannot decrypt.
  const phone = network.phones.get(ann)
  for (const text of ['three', 'four']) {
    phone?.forget(shop)
    await receive(text)
    await send(`${text} too`)
    await collect()
  }
  const broken = await network.writeBroken(ann, shop)
  await until(() => network.requests.find(({ tag, attrs }) => tag === 'receipt' && attrs.id === broken && attrs.type === 'retry'))
  network.disconnect(shop, '503')
  await until(() => !network.connected.includes(shop))
  await until(() => network.connected.includes(shop))
  await collect()

  for (const path of ['instances', `instances/${id}`, `instances/${id}/state`, `instances/${id}/health`, 'messages'])
    answers.push((await client.api.get(path)).body)
  answers.push((await client.api.graphql('{ instances { id settings meta state { status lastError qr pairingCode } } }')).body)
  answers.push((await client.api.post('instances', { name: 'x', provider: 'web', settings: { pin: 1 } })).body)
  answers.push(await (await fetch(`${gateway.url}/metrics`)).text())
  answers.push((await client.api.post(`instances/${id}/logout`)).body)
  await until(() => network.accounts.get(shop)?.removed)

  expect(secrets.size).toBeGreaterThan(10)
  const forms = [...secrets].flatMap((secret) => {
    const bytes = Buffer.from(secret, 'base64')
    // As a Buffer is printed, in hex and in base64.
    return [secret, bytes.toString('hex'), (bytes.toString('hex').match(/../g) ?? []).slice(0, 16).join(' ')]
  })
  const found: string[] = []
  const { rows: tables } = await sql(databaseUrl).query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'pgboss')`,
  )
  for (const { name } of tables) {
    const text = `select t::text as row from ${name} t where t::text like any($1) limit 1`
    const { rows } = await sql(databaseUrl).query(text, [forms.map((form) => `%${form}%`)])
    for (const { row } of rows) found.push(`${name} has ${row}`)
  }
  await gateway.stop()
  const printed = gateway.logs.join('\n')
  for (const form of forms) {
    if (JSON.stringify(answers).includes(form)) found.push(`an answer has ${form}`)
    if (printed.includes(form)) found.push(`the console has ${form}`)
  }
  expect(found).toEqual([])
  expect(printed).not.toMatch(/SessionEntry|privKey|rootKey|chainKey|Closing session|Opening session|Session error/)
  expect(tables.length).toBeGreaterThan(30)
})
