// Proves that SECRET_KEY can be changed: rows of both keys work before, during and after `gateway reseal`.
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { replaceSealed, type SealedColumn, sealedColumns } from '../../src/cli/reseal.sql.ts'
import { reseal } from '../../src/cli/reseal.ts'
import { newId } from '../../src/core/id.ts'
import { createSealer } from '../../src/core/seal.ts'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { whileHeld } from '../kit/held.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openReceiver } from './receiver.ts'
import { openRig, settled } from './rig.ts'

const newKey = 'cd'.repeat(32)
const changed = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: secretKey }
const [now, old] = [Buffer.from(newKey, 'hex'), Buffer.from(secretKey, 'hex')]

it('deliveries are signed rightly before, during and after reseal, which can end between batches', async () => {
  const databaseUrl = await cloneDatabase()
  const db = sql(databaseUrl)
  const rig = await openRig({ databaseUrl, env: changed })
  const receivers = [await openReceiver(), await openReceiver()] as const
  const [a, b] = [await rig.endpoint(receivers[0].url), await rig.endpoint(receivers[1].url)]
  const underOld = (text: string) => createSealer(old).seal(text)
  await db.query('update webhook_endpoints set secret = $2 where id = $1', [a.id, underOld(a.shownSecret)])
  await db.query('update instances set credentials = $1', [underOld('{}')])
  await db.query('insert into mails (id, content) values (gen_random_uuid(), $1)', [underOld('{}')])
  // More than one batch.
  await db.query(
    `insert into idempotency_keys ("workspaceId", key, fingerprint, result) select $1, 'k' || n, '', $2 from generate_series(1, 600) n`,
    [rig.account.workspaceId, underOld('x')],
  )
  async function deliverRightly(count: number) {
    await rig.emit()
    for (const [n, endpoint] of [a, b].entries()) {
      await settled(rig, endpoint.id, 'delivered', count)
      const request = receivers[n]?.requests.at(-1)
      new Webhook(endpoint.shownSecret).verify(request?.body ?? '', request?.headers ?? {})
    }
  }
  await deliverRightly(1)
  expect((await command(['doctor'], { databaseUrl, env: changed })).stdout).toMatch(
    /^ok +secretKey: 2 stored secrets are under SECRET_KEY_PREVIOUS/m,
  )

  expect(await reseal(db, { secretKey: now, previous: old }, { mostBatches: 1 })).toMatchObject({ resealed: 1 })
  await deliverRightly(2)

  const first = await command(['reseal', '--json'], { databaseUrl, env: changed })
  expect([first.code, first.stderr, JSON.parse(first.stdout)]).toEqual([
    0,
    '',
    { resealed: 602, current: 2, unreadableCount: 0, unreadable: [] },
  ])
  await deliverRightly(3)
  const second = await command(['reseal'], { databaseUrl, env: { SECRET_KEY: newKey } })
  expect(second).toEqual({ code: 0, stdout: '0 resealed, 604 under SECRET_KEY before, 0 unreadable\n', stderr: '' })
})

it('references to files of inbound messages on web are resealed where they stand; those of other networks are no secret', async () => {
  const databaseUrl = await cloneDatabase()
  const db = sql(databaseUrl)
  const { account } = await openRig({ databaseUrl, working: false })
  const [before, after] = [createSealer(old), createSealer(now)]
  const add = async (provider: string, reference: string) => {
    const content = JSON.stringify({ kind: 'image', media: { reference, mimeType: 'image/png', fileName: null } })
    const { rows } = await db.query(
      `with i as (insert into instances (id, "workspaceId", "userId", name, provider, status, settings)
         values (gen_random_uuid(), $1, $2, 'Shop', $3::provider_name, 'connected', '{}') returning id)
       insert into messages (id, "workspaceId", "userId", "instanceId", direction, type, "from", "to", peer, body, content, status, safety)
         select gen_random_uuid(), $1, $2, i.id, 'inbound', 'image', '+391', '+392', '+391', '', $4, 'received', '{}' from i returning id`,
      [account.workspaceId, account.userId, provider, content],
    )
    return rows[0].id as string
  }
  const under = ({ seal }: typeof before) => seal('{"mediaKey":"k"}').toString('base64')
  const kept = under(after)
  const ids = [await add('web', under(before)), await add('web', kept), await add('cloud', '1234')]
  const result = await command(['reseal', '--json'], { databaseUrl, env: changed })
  expect(JSON.parse(result.stdout)).toMatchObject({ resealed: 1, current: 1, unreadable: [] })
  const { rows } = await db.query('select id, content from messages where id = any($1)', [ids])
  const contents = ids.map((id) => rows.find((row) => row.id === id)?.content)
  expect(after.open(Buffer.from(contents[0].media.reference, 'base64')).toString()).toBe('{"mediaKey":"k"}')
  expect(contents).toMatchObject([
    { kind: 'image', media: { mimeType: 'image/png' } },
    { media: { reference: kept } },
    { media: { reference: '1234' } },
  ])
  expect((await command(['reseal'], { databaseUrl, env: { SECRET_KEY: newKey } })).stdout).toMatch(/^0 resealed, 2 under/)
})

it('reseal names what neither key opens, leaves it alone and moves the rest', async () => {
  const databaseUrl = await cloneDatabase()
  const rig = await openRig({ databaseUrl, working: false })
  const { id } = await rig.endpoint('https://example.com/hook')
  const lost = createSealer(Buffer.alloc(32)).seal('whsec_lost')
  await sql(databaseUrl).query('update webhook_endpoints set "previousSecret" = $1', [lost])
  const wrong = await command(['reseal'], { databaseUrl, env: { ...changed, SECRET_KEY_PREVIOUS: 'ee'.repeat(32) } })
  const line = (column: string) => `webhook_endpoints.${column} ${id}: neither SECRET_KEY nor SECRET_KEY_PREVIOUS decrypts it\n`
  expect([wrong.code, wrong.stderr]).toEqual([1, line('secret') + line('previousSecret')])
  const right = await command(['reseal'], { databaseUrl, env: changed })
  expect(right).toEqual({
    code: 1,
    stdout: '1 resealed, 0 under SECRET_KEY before, 1 unreadable\n',
    stderr: line('previousSecret'),
  })
  const { rows } = await sql(databaseUrl).query('select "previousSecret" from webhook_endpoints')
  expect(rows).toEqual([{ previousSecret: lost }])
})

it('a value that changed after it was read is not overwritten', async () => {
  const databaseUrl = await cloneDatabase()
  const rig = await openRig({ databaseUrl, working: false })
  const { id } = await rig.endpoint('https://example.com/hook')
  const column = sealedColumns.find((each) => each.column === 'secret') as SealedColumn
  const read = async () => (await sql(databaseUrl).query('select secret from webhook_endpoints')).rows[0]?.secret as Buffer
  const stored = await read()
  const next = Buffer.from('next')
  expect(await replaceSealed(rig.app.pool, column, [{ id: [id], stored: Buffer.from('stale'), next }])).toBe(0)
  expect(await read()).toEqual(stored)
  expect(await replaceSealed(rig.app.pool, column, [{ id: [id], stored, next }])).toBe(1)
  expect(await read()).toEqual(next)
})

it('Idempotency-Keys are locked in the order of requests with several keys, so that neither ends the other by a deadlock', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  // As in a database of another locale than that of the embedded server, which sorts `B` before `a`.
  await pool.query('alter table idempotency_keys alter column key type text collate "en-x-icu"')
  const workspaceId = newId()
  await pool.query(
    `insert into idempotency_keys ("workspaceId", key, fingerprint, result) select $1, key, '', 'old' from unnest($2::text[]) key`,
    [workspaceId, ['a', 'B']],
  )
  const column = sealedColumns.find(({ table }) => table === 'idempotency_keys') as SealedColumn
  const rows = ['a', 'B'].map((key) => ({ id: [workspaceId, key], stored: Buffer.from('old'), next: Buffer.from('new') }))
  const replaced = await whileHeld(
    databaseUrl,
    [`select from idempotency_keys where key = 'B' for update`],
    [() => replaceSealed(pool, column, rows)],
    [`select from idempotency_keys where key = 'a' for update nowait`],
  )
  expect(replaced).toEqual([2])
})

it('people sign in with the same signing key before, during and after reseal, and their tokens stay valid', async () => {
  const databaseUrl = await cloneDatabase()
  const login = { email: 'key@example.com', password: 'correct horse' }
  await command(['account', 'create', '--name', 'K', '--plan', 'free', '--email', login.email, '--password', login.password], {
    databaseUrl,
  })
  const tokens: string[] = []
  async function signIn(env: Record<string, string>) {
    const gateway = await openGateway({ databaseUrl, env: { ...env, PUBLIC_URL: 'https://gateway.example' } })
    const client = api(gateway)
    tokens.push((await client.post('/api/auth/login', login)).body.data.accessToken)
    for (const token of tokens)
      expect((await client.get('/api/instances', { authorization: `Bearer ${token}` })).status).toBe(200)
    await gateway.stop()
  }
  await signIn({})
  await signIn(changed)
  expect((await command(['reseal'], { databaseUrl, env: changed })).code).toBe(0)
  await signIn({ SECRET_KEY: newKey })
  expect((await sql(databaseUrl).query('select from auth_jwks')).rowCount).toBe(1)
})
