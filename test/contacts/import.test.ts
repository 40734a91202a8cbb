// POST contacts/import and importContacts: what a file creates, updates, skips and refuses, as a job that can be followed.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { expectRefusal, moment, newTenant, nobody, openRig, type Rig, type Tenant, uuid } from '../rest-compat/rig.ts'
import { addGroup, membersOf, watchJob } from './bulk-rig.ts'
import { contactsOf, importAll, postImport } from './import-rig.ts'

let rig: Rig
let tenant: Tenant
let key: string

beforeAll(async () => {
  rig = await openRig()
})

async function fresh(): Promise<void> {
  tenant = await newTenant(rig.gateway, rig.databaseUrl)
  key = tenant.account.apiKey
}

const ada = '+4915112345601'
const bob = '+4915112345602'
const eve = '+4915112345603'

it('answers 202 with a job that imports the file', async () => {
  await fresh()
  const groupId = await addGroup(rig.databaseUrl, tenant.account.workspaceId)
  const csv = `name,phone,email,tags,custom.city\nAda Lovelace,${ada},ada@example.com,"vip, math",London\nBob,${bob},,,\n`
  const answer = await postImport(rig.gateway, key, csv, { groupId })
  expect(answer).toMatchObject({
    status: 202,
    body: {
      data: {
        mode: 'async',
        jobId: uuid,
        status: 'pending',
        operation: 'import_contacts',
        requestedCount: 0,
        groupId,
        progress: 0,
        message: expect.any(String),
      },
    },
  })
  const { jobId } = answer.body.data
  const job = (await watchJob(tenant.api, jobId)).at(-1)
  expect(job).toStrictEqual({
    id: jobId,
    operation: 'import_contacts',
    status: 'done',
    requestedCount: 2,
    processedCount: 2,
    progress: 100,
    groupId,
    summary: { created: 2, updated: 0, skipped: 0, invalid: [] },
    error: null,
    createdAt: moment,
    updatedAt: moment,
    completedAt: moment,
  })
  expect((await tenant.api.get('contacts/bulk-jobs')).body.data.jobs[0]).toMatchObject({ id: jobId, summary: job?.summary })
  expect(await contactsOf(tenant.api)).toMatchObject({
    [ada]: {
      name: 'Ada Lovelace',
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.com',
      tags: ['vip', 'math'],
      custom: { city: 'London' },
    },
    [bob]: { name: 'Bob', email: null, tags: [], custom: {} },
  })
  expect(await membersOf(rig.databaseUrl, groupId)).toEqual({ rows: 2, counter: 2 })
})

describe('a number that a contact has already', () => {
  beforeAll(async () => {
    await fresh()
    const fields = { name: 'Ada Lovelace', email: 'ada@example.com', tags: ['vip'], custom: { city: 'London', n: '1' } }
    expect((await tenant.api.post('contacts', { ...fields, phone: ada })).status).toBe(201)
  })
  const csv = `phone,name,email,custom.city\n${ada},Ada King,,Paris\n${eve},Eve,,\n${ada},,,Rome\n`

  it('is skipped by default, and still joins the group', async () => {
    const groupId = await addGroup(rig.databaseUrl, tenant.account.workspaceId)
    const job = await importAll(rig.gateway, key, csv, { groupId })
    expect(job.summary).toEqual({ created: 1, updated: 0, skipped: 2, invalid: [] })
    expect((await contactsOf(tenant.api))[ada]).toMatchObject({ name: 'Ada Lovelace', custom: { city: 'London', n: '1' } })
    expect(await membersOf(rig.databaseUrl, groupId)).toEqual({ rows: 2, counter: 2 })
  })

  it('is updated with `update`, where an empty cell leaves what is there', async () => {
    const job = await importAll(rig.gateway, key, csv, { onConflict: 'update' })
    expect(job.summary).toEqual({ created: 0, updated: 3, skipped: 0, invalid: [] })
    expect((await contactsOf(tenant.api))[ada]).toMatchObject({
      name: 'Ada King',
      email: 'ada@example.com',
      tags: ['vip'],
      custom: { city: 'Rome', n: '1' },
    })
  })
})

it('lists faults by line and field, and imports the other lines', async () => {
  await fresh()
  const csv = `name,phone\n,${ada}\n"Two\nlines",0151\n\nBob,${bob}\nx,${eve},surplus\n`
  const job = await importAll(rig.gateway, key, csv)
  expect(job).toMatchObject({ status: 'done', requestedCount: 4, processedCount: 4 })
  expect(job.summary).toEqual({
    created: 1,
    updated: 0,
    skipped: 0,
    invalid: [
      { line: 2, field: 'name', message: 'is required' },
      { line: 3, field: 'phone', message: 'must be an E.164 number, for example +393331234567' },
      { line: 7, field: 'file', message: 'must have at most 2 cells, as the line of titles' },
    ],
  })
  expect(Object.keys(await contactsOf(tenant.api))).toEqual([bob])
})

it('lists a line without a name, although a later line creates its contact', async () => {
  await fresh()
  const job = await importAll(rig.gateway, key, `name,phone\n,${ada}\nAda,${ada}\n,${ada}\n`)
  expect(job.summary).toEqual({
    created: 1,
    updated: 0,
    skipped: 1,
    invalid: [{ line: 2, field: 'name', message: 'is required' }],
  })
})

it('takes a line as long as an export may write', async () => {
  await fresh()
  const keys = Array.from({ length: 50 }, (_, n) => `custom.key${n}`)
  const values = keys.map(() => '😀'.repeat(1_024))
  const job = await importAll(rig.gateway, key, `name,phone,${keys}\nAda,${ada},${values}\n`)
  expect(job).toMatchObject({ status: 'done', summary: { created: 1, invalid: [] } })
})

it('lists at most 100 faults', async () => {
  await fresh()
  const job = await importAll(rig.gateway, key, `name,phone\n${'x,1\n'.repeat(700)}`)
  expect(job).toMatchObject({ status: 'done', requestedCount: 700, processedCount: 700 })
  expect(job.summary.invalid).toHaveLength(100)
})

it('takes files as spreadsheets write them: BOM, semicolons, quotes, CRLF, escaped cells, other titles', async () => {
  await fresh()
  const csv = `\uFEFF"Name; voll";Mobil;tags;Notiz\r\n"Ada ""L.""";'${ada};"a,b";x\r\n'=1+1;${bob};;\r\n;;;\r\n`
  const mapping = JSON.stringify({ 'Name; voll': 'name', Mobil: 'phone' })
  const job = await importAll(rig.gateway, key, csv, { mapping, groupId: '', onConflict: '' })
  expect(job.summary).toEqual({ created: 2, updated: 0, skipped: 0, invalid: [] })
  expect(await contactsOf(tenant.api)).toMatchObject({
    [ada]: { name: 'Ada "L."', tags: ['a', 'b'], custom: {} },
    [bob]: { name: '=1+1' },
  })
})

it('fails before it stores anything if the file is no CSV, or has too many lines or cells in a line', async () => {
  await fresh()
  const broken = await importAll(rig.gateway, key, `name,phone\nAda,${ada}\nBob "B",x"y\n"open`)
  const fault = [{ line: 3, field: 'file', message: expect.stringContaining('quote') }]
  expect(broken).toMatchObject({ status: 'failed', error: 'VALIDATION_ERROR', requestedCount: 0, summary: { invalid: fault } })
  const long = await importAll(rig.gateway, key, `name,phone\nAda,${ada}\n${'x,1\n'.repeat(100_000)}`)
  expect(long).toMatchObject({
    status: 'failed',
    error: 'VALIDATION_ERROR',
    summary: { invalid: [{ line: 100_002, field: 'file' }] },
  })
  const wide = await importAll(rig.gateway, key, `name,phone\nAda,${ada}\n${','.repeat(25_000)}x`)
  expect(wide).toMatchObject({ status: 'failed', error: 'VALIDATION_ERROR', summary: { invalid: [{ line: 3, field: 'file' }] } })
  expect(await contactsOf(tenant.api)).toEqual({})
})

it('is done at once if the file has titles only', async () => {
  expect(await importAll(rig.gateway, key, 'name,phone\n')).toMatchObject({ status: 'done', requestedCount: 0, progress: 100 })
})

it.each<[string, string | Buffer<ArrayBuffer>, Record<string, string>, number, string, string | RegExp]>([
  ['text that is not UTF-8', Buffer.from([0x6e, 0xe4, 0x0a]), {}, 400, 'VALIDATION_ERROR', 'file: must be text in UTF-8'],
  ['an empty file', '', {}, 400, 'VALIDATION_ERROR', 'file: must not be empty'],
  ['an unknown onConflict', 'a', { onConflict: 'merge' }, 400, 'VALIDATION_ERROR', 'onConflict: must be one of skip, update'],
  ['a malformed mapping', 'a', { mapping: '{' }, 400, 'VALIDATION_ERROR', 'mapping: must be a JSON object'],
  ['a mapping that is a list', 'a', { mapping: '["a"]' }, 400, 'VALIDATION_ERROR', /^mapping: must be/],
  ['a mapping of no title', 'a', { mapping: '{"":"name"}' }, 400, 'VALIDATION_ERROR', 'mapping.: its name must not be empty'],
  ['a mapping to no field', 'a', { mapping: '{"A":"id"}' }, 400, 'VALIDATION_ERROR', /^mapping\.A: must be one of name, /],
  ['a mapping to NUL', 'a', { mapping: '{"A":"custom.\\u0000"}' }, 400, 'VALIDATION_ERROR', /^mapping\.A: must not contain NUL/],
  ['a malformed group', 'a', { groupId: 'x' }, 400, 'VALIDATION_ERROR', 'groupId: must be a UUID'],
  ['an unknown group', 'a', { groupId: nobody }, 404, 'NOT_FOUND', 'Contact group not found'],
])('refuses %s', async (_, csv, fields, status, code, message) => {
  const { account } = rig.tenant
  expectRefusal(await postImport(rig.gateway, account.apiKey, csv, fields), status, code, message)
})

it('refuses a caller without a key, and a group of another workspace', async () => {
  const groupId = await addGroup(rig.databaseUrl, rig.stranger.account.workspaceId)
  expectRefusal(await postImport(rig.gateway, '', 'a'), 401, 'UNAUTHORIZED')
  expectRefusal(await postImport(rig.gateway, rig.tenant.account.apiKey, 'a', { groupId }), 404, 'NOT_FOUND')
})

it('repeats its answer to the same Idempotency-Key, and refuses other options under it', async () => {
  await fresh()
  const ask = (fields: Record<string, string>) =>
    postImport(rig.gateway, key, `name,phone\nAda,${ada}\n`, fields, { 'idempotency-key': 'one' })
  const first = await ask({})
  const again = await ask({})
  expect(again.body).toEqual(first.body)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expectRefusal(await ask({ onConflict: 'update' }), 422, 'IDEMPOTENCY_KEY_REUSED')
})

it('repeats its refusal to the same Idempotency-Key', async () => {
  await fresh()
  const ask = () => postImport(rig.gateway, key, `name,phone\nAda,${ada}\n`, { mapping: 'x' }, { 'idempotency-key': 'refused' })
  expectRefusal(await ask(), 400, 'VALIDATION_ERROR', /^mapping: /)
  const again = await ask()
  expectRefusal(again, 400, 'VALIDATION_ERROR', /^mapping: /)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
})

it('has at most five open imports in a workspace', async () => {
  const { account } = rig.stranger
  // No worker knows of these jobs, so they stay open.
  await sql(rig.databaseUrl).query(
    `insert into bulk_jobs (id, "workspaceId", operation, "contactIds", "requestedCount", summary)
     select gen_random_uuid(), $1, 'import_contacts', '{}', 0, '{}' from generate_series(1, 5)`,
    [account.workspaceId],
  )
  expectRefusal(
    await postImport(rig.gateway, account.apiKey, 'name,phone\n'),
    429,
    'API_RATE_LIMIT_EXCEEDED',
    /^At most 5 imports/,
  )
})

it('two imports of one file at once create each contact once', async () => {
  await fresh()
  const lines = Array.from({ length: 1_500 }, (_, i) => `C ${i},+49151${10_000_000 + i}`)
  const jobs = await Promise.all(
    [lines, lines.toReversed()].map((order) => importAll(rig.gateway, key, `name,phone\n${order.join('\n')}\n`)),
  )
  const sum = (name: 'created' | 'skipped') => jobs.reduce((n, { summary }) => n + summary[name], 0)
  expect({ created: sum('created'), skipped: sum('skipped') }).toEqual({ created: 1_500, skipped: 1_500 })
})
