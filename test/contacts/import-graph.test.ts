// importContacts: the text of a file or an uploaded one, and what the graph refuses.
import { beforeAll, describe, expect, it } from 'vitest'
import { upload } from '../media/rig.ts'
import { newTenant, nobody, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'
import { watchJob } from './bulk-rig.ts'
import { contactsOf } from './import-rig.ts'

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

describe('importContacts', () => {
  const operation = `mutation ($input: ImportContactsInput!) {
    importContacts(input: $input) { id operation status requestedCount progress groupId }
  }`
  const follow = `query ($id: ID!) { bulkJob(id: $id) { status progress error summary {
    created updated skipped added deleted notFound invalid { line field message } } } }`

  async function run(input: Record<string, unknown>) {
    const { body } = await tenant.api.graphql(operation, { input })
    const { id, ...job } = body.data.importContacts
    expect(job).toMatchObject({ operation: 'import_contacts', status: 'pending', requestedCount: 0, progress: 0 })
    await watchJob(tenant.api, id)
    return (await tenant.api.graphql(follow, { id })).body.data.bulkJob
  }

  it('takes the text of a file, or an uploaded one', async () => {
    await fresh()
    const csv = `Name,phone\nAda,${ada}\n,1\n`
    const summary = { added: null, deleted: null, notFound: 0, updated: 0 }
    const fault = { line: 3, field: 'phone', message: expect.any(String) }
    expect(await run({ csv, mapping: { Name: 'name' } })).toEqual({
      status: 'done',
      progress: 100,
      error: null,
      summary: { ...summary, created: 1, skipped: 0, invalid: [fault] },
    })
    const media = await upload(rig.gateway, key, Buffer.from(`name,phone\nAda B,${ada}\n`))
    expect(await run({ mediaId: media.body.data.id, onConflict: 'update' })).toMatchObject({
      status: 'done',
      summary: { ...summary, created: 0, updated: 1, invalid: [] },
    })
    expect((await contactsOf(tenant.api))[ada]).toMatchObject({ name: 'Ada B' })
  })

  it('repeats its answer to the same idempotencyKey, although the file was deleted meanwhile', async () => {
    await fresh()
    const { id: mediaId } = (await upload(rig.gateway, key, Buffer.from(`name,phone\nAda,${ada}\n`))).body.data
    const ask = async () => (await tenant.api.graphql(operation, { input: { mediaId, idempotencyKey: 'one' } })).body
    const first = await ask()
    expect(first.data.importContacts).toMatchObject({ status: 'pending' })
    expect((await tenant.api.delete(`media/${mediaId}`)).status).toBe(200)
    expect(await ask()).toEqual(first)
  })

  it.each([
    [{}, 'VALIDATION_ERROR', 'csv: is required, unless mediaId is given'],
    [{ csv: 'a', mediaId: nobody }, 'VALIDATION_ERROR', 'mediaId: cannot be given together with csv'],
    [{ mediaId: nobody }, 'NOT_FOUND', 'Media not found'],
    [{ csv: 'a', groupId: nobody }, 'NOT_FOUND', 'Contact group not found'],
    [{ csv: 'a', mapping: { A: 'id' } }, 'VALIDATION_ERROR', /mapping\.A: must be one of name, /],
  ])('refuses %j', async (input, code, message) => {
    const { body } = await tenant.api.graphql(operation, { input })
    expect(body.errors[0].extensions.code).toBe(code)
    expect(body.errors[0].message).toMatch(message)
  })
})
