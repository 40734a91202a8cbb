// A plan stores a limited number of bytes over all workspaces that it pays for, and deleting a file frees its bytes.
import { beforeAll, describe, expect, it } from 'vitest'
import { plans } from '../../src/billing/plans.ts'
import { newId } from '../../src/core/id.ts'
import { api } from '../kit/api.ts'
import { until } from '../kit/until.ts'
import { join, newTeam } from '../teams/rig.ts'
import { exceeded, ofFree, openStorage, outcome, proofOf, type Storage, surfaces } from './storage-rig.ts'

let storage: Storage

beforeAll(async () => {
  storage = await openStorage()
})

it('limits storage to 100 MiB, 5 GiB and 50 GiB by plan, as GraphQL reports', async () => {
  const { body } = await (await storage.someone()).api.graphql('{ plans { code limits { maxMediaBytes } } }')
  expect(body.data.plans.map((plan: { limits: object }) => plan.limits)).toEqual([
    { maxMediaBytes: ofFree },
    { maxMediaBytes: 5 * 1024 ** 3 },
    { maxMediaBytes: 50 * 1024 ** 3 },
  ])
  expect(plans.map(({ code }) => code)).toEqual(['free', 'pro', 'max'])
})

describe.each(surfaces)('at %s', (surface) => {
  it('a file that fills the quota exactly is accepted, and one byte more is refused', async () => {
    const who = await storage.someone()
    await storage.fill(who, ofFree - 1000)
    expect(outcome(await storage.upload(who, 1001, { surface }))).toBe(exceeded)
    expect(outcome(await storage.upload(who, 1000, { surface }))).toBe('201')
    expect(await storage.mediaBytes(who)).toBe(ofFree)
    expect(outcome(await storage.upload(who, 1, { surface }))).toBe(exceeded)
    expect(storage.incoming()).toEqual([])
  })

  it('a deleted file is gone from the disk, its URL answers 404, and its bytes are free again', async () => {
    const who = await storage.someone()
    await storage.fill(who, ofFree - 1000)
    const { id, url } = (await storage.upload(who, 1000, { surface })).body.data
    const address = new URL(new URL(url).pathname, storage.gateways[1].url)
    expect((await fetch(address)).status).toBe(200)
    expect(storage.filesOnDisk()).toContain(id)
    const client = api(storage.gateways[0], undefined, proofOf(surface, who))
    const gone = await client.delete(`${surface}/${id}`)
    expect([gone.status, gone.body]).toEqual([200, { data: { id, deleted: true } }])
    const answer = await fetch(address)
    expect([answer.status, await answer.json()]).toEqual([404, { error: { code: 'NOT_FOUND', message: 'Media not found' } }])
    expect((await client.get(`${surface}/${id}`)).status).toBe(404)
    expect(storage.filesOnDisk()).not.toContain(id)
    expect(await storage.mediaBytes(who)).toBe(ofFree - 1000)
    expect(outcome(await storage.upload(who, 1000, { surface }))).toBe('201')
    expect((await client.delete(`${surface}/${id}`)).status).toBe(404)
  })
})

describe('GraphQL', () => {
  it('deletes a file of the own workspace only', async () => {
    const [who, other] = [await storage.someone(), await storage.someone()]
    const { id } = (await storage.upload(who, 'hello')).body.data
    const document = 'mutation ($id: ID!) { deleteMedia(id: $id) { id deleted } }'
    const foreign = await other.api.graphql(document, { id })
    expect(foreign.body.errors[0].extensions.code).toBe('NOT_FOUND')
    expect(storage.filesOnDisk()).toContain(id)
    expect((await who.api.graphql(document, { id })).body).toEqual({ data: { deleteMedia: { id, deleted: true } } })
    expect(storage.filesOnDisk()).not.toContain(id)
    expect((await who.api.graphql(document, { id })).body.errors[0].extensions.code).toBe('NOT_FOUND')
    expect((await who.api.graphql(document, { id: 'x' })).body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  })
})

it('allows one file for each 10 KiB of the byte quota', async () => {
  const who = await storage.someone()
  await storage.fill(who, 1, 10_239)
  expect(outcome(await storage.upload(who, 'x'))).toBe('201')
  const { status, body } = await storage.upload(who, 'x')
  expect([status, body.error]).toEqual([403, { code: 'MEDIA_STORAGE_EXCEEDED', message: 'The plan allows at most 10240 files' }])
})

it('answers a repeated upload with its file even if the quota does not allow it again', async () => {
  const who = await storage.someone()
  await storage.fill(who, ofFree - 1000)
  const headers = { 'idempotency-key': newId() }
  const first = await storage.upload(who, 1000, { headers })
  const second = await storage.upload(who, 1000, { headers })
  expect([second.status, second.headers.get('idempotency-replayed'), second.body]).toEqual([201, 'true', first.body])
  expect(outcome(await storage.upload(who, 999, { headers }))).toBe('422 IDEMPOTENCY_KEY_REUSED')
  expect(await storage.mediaBytes(who)).toBe(ofFree)
})

it('answers a repeated upload with its refusal even if the quota allows it now', async () => {
  const who = await storage.someone()
  await storage.fill(who, ofFree - 1000)
  const { id } = (await storage.upload(who, 1000)).body.data
  const headers = { 'idempotency-key': newId() }
  const first = await storage.upload(who, 999, { headers })
  expect([outcome(first), first.headers.get('idempotency-replayed')]).toEqual([exceeded, null])
  expect((await who.api.delete(`/api/media/${id}`)).status).toBe(200)
  const second = await storage.upload(who, 999, { headers })
  expect([outcome(second), second.headers.get('idempotency-replayed'), second.body]).toEqual([exceeded, 'true', first.body])
  expect(await storage.mediaBytes(who)).toBe(ofFree - 1000)
  expect(outcome(await storage.upload(who, 999))).toBe('201')
})

it('answers an upload that is repeated while the first one takes the rest of the quota, and lets that one go on', async () => {
  const who = await storage.someone()
  await storage.fill(who, ofFree - 1000)
  const headers = { 'idempotency-key': newId() }
  const { app } = storage.gateways[0]
  const stored = Promise.withResolvers<void>()
  const { failpoint } = app
  app.failpoint = async (name) => {
    if (name === 'media.before_put') await stored.promise
  }
  const first = storage.upload(who, 1000, { headers })
  await until(async () => (await storage.mediaBytes(who)) === ofFree)
  const repeated = await storage.upload(who, 1000, { headers, at: storage.gateways[1] })
  app.failpoint = failpoint
  stored.resolve()
  expect(outcome(repeated)).toBe('409 IDEMPOTENCY_IN_PROGRESS')
  expect(outcome(await first)).toBe('201')
  expect((await storage.upload(who, 1000, { headers })).body).toEqual((await first).body)
  expect(await storage.mediaBytes(who)).toBe(ofFree)
})

describe('a team', () => {
  it("stores in its owner's plan, also for collaborators, who may delete files", async () => {
    const [owner, member] = [await storage.someone('pro'), await storage.someone()]
    const { teamId, workspaceId } = await newTeam(storage.rig, owner)
    await join(storage.rig, teamId, member, 'collaborator')
    const inTeam = { surface: '/api/media', headers: { 'x-team-id': teamId } } as const
    const { id } = (await storage.upload(member, 1000, inTeam)).body.data
    expect([await storage.mediaBytes(owner), await storage.mediaBytes(member)]).toEqual([1000, 0])
    await storage.fill({ workspaceId }, 2 * 1024 ** 3 - 1000, 1)
    await storage.fill(owner, 2 ** 31 - 1, 1)
    await storage.fill(owner, 1024 ** 3 + 1 - 500, 1)
    expect(outcome(await storage.upload(member, 501, inTeam))).toBe(exceeded)
    expect(outcome(await storage.upload(owner, 500))).toBe('201')
    expect((await member.inTeam(teamId).delete(`/api/media/${id}`)).body).toEqual({ data: { id, deleted: true } })
    expect(outcome(await storage.upload(member, 501, inTeam))).toBe('201')
  })

  it('that is deleted leaves no file behind, and counts until its files are gone', async () => {
    const owner = await storage.someone('pro')
    const { teamId } = await newTeam(storage.rig, owner)
    const { id } = (await storage.upload(owner, 5000, { surface: '/api/media', headers: { 'x-team-id': teamId } })).body.data
    expect(await storage.mediaBytes(owner)).toBe(5000)
    expect((await owner.api.delete(`/api/teams/${teamId}`)).status).toBe(200)
    await until(() => !storage.filesOnDisk().includes(id), { timeoutMs: 30_000 })
    await until(async () => (await storage.mediaBytes(owner)) === 0)
  })
})

it('keeps the stored sums equal to the totals of the file rows, whatever happened to them', async () => {
  expect(await storage.wrongSums()).toEqual([])
})
