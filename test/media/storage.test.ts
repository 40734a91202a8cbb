// How much a plan stores: the sizes of all files over the workspaces that it pays for, exact under a race and after a crash.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { plans } from '../../src/billing/plans.ts'
import { newId } from '../../src/core/id.ts'
import { sweepMedia } from '../../src/media/service.ts'
import { newPerson, type Person } from '../accounts/person.ts'
import { expectDocumented } from '../kit/document.ts'
import { type Answer, api, cloneDatabase, type Gateway, sql, startGateway, until } from '../kit/kit.ts'
import { openApp } from '../messages/rig.ts'
import { dataFolder } from '../promises/demo.ts'
import { join, newTeam, type Rig } from '../teams/rig.ts'
import { rawForm } from './rig.ts'

const mib = 1024 ** 2
const ofFree = 100 * mib
const exceeded = '403 MEDIA_STORAGE_EXCEEDED'

let databaseUrl: string
let dataDir: string
let gateways: [Gateway, Gateway]
let rig: Rig

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  dataDir = await dataFolder()
  gateways = await Promise.all([start(), start()])
  rig = { databaseUrl, gateway: gateways[0], mailDir: '' }
})

function start(env: Record<string, string> = {}): Promise<Gateway> {
  const own = { DATA_DIR: dataDir, PUBLIC_URL: 'http://gateway.example.com', RATE_LIMIT_PER_SECOND: '100000' }
  return startGateway({ databaseUrl, env: { ...own, ...env } })
}

const someone = (plan: 'free' | 'pro' | 'max' = 'free') => newPerson(gateways[0], databaseUrl, plan)

type Surface = '/api/v1/media' | '/api/media'
const surfaces: Surface[] = ['/api/v1/media', '/api/media']

function proofOf(surface: Surface, { apiKey, token }: Person): Record<string, string> {
  return surface === '/api/v1/media' ? { 'x-api-key': apiKey } : { authorization: `Bearer ${token}` }
}

/** Uploads so many bytes of text. */
async function upload(
  who: Person,
  content: number | string,
  { at = gateways[0], surface = '/api/v1/media' as Surface, headers = {} as Record<string, string> } = {},
): Promise<Answer> {
  const form = new FormData()
  form.append('file', new Blob([typeof content === 'string' ? content : 'x'.repeat(content)]), 'a')
  const init = { method: 'POST', body: form, headers: { ...proofOf(surface, who), ...headers } }
  const response = await fetch(new URL(surface, at.url), init)
  const answer = { status: response.status, headers: response.headers, body: await response.json() }
  expectDocumented({ method: 'POST', path: surface, ...answer })
  return answer
}

const told = ({ status, body }: Answer): string => `${status} ${body.error?.code ?? ''}`.trimEnd()

/** As if so many bytes had been uploaded, in so many files. */
async function fill({ workspaceId }: Pick<Person, 'workspaceId'>, bytes: number, files = 1): Promise<void> {
  await sql(databaseUrl).query(
    `insert into media (id, "workspaceId", token, "mimeType", size, "storedAt")
     select gen_random_uuid(), $1, gen_random_uuid()::text, 'text/plain', $2, now() from generate_series(1, $3)`,
    [workspaceId, bytes, files],
  )
}

/** What the graph says that is stored. */
async function mediaBytes(who: Person): Promise<number> {
  const { body } = await who.api.graphql('{ usage { mediaBytes plan { limits { maxMediaBytes } } } }')
  return body.data.usage.mediaBytes
}

const filesOnDisk = () => readdirSync(path.join(dataDir, 'media')).filter((name) => name !== 'incoming')
const incoming = () => readdirSync(path.join(dataDir, 'media', 'incoming'))

it('is 100 MiB, 5 GiB and 50 GiB, and the graph says so', async () => {
  const { body } = await (await someone()).api.graphql('{ plans { code limits { maxMediaBytes } } }')
  expect(body.data.plans.map((plan: { limits: object }) => plan.limits)).toEqual([
    { maxMediaBytes: ofFree },
    { maxMediaBytes: 5 * 1024 ** 3 },
    { maxMediaBytes: 50 * 1024 ** 3 },
  ])
  expect(plans.map(({ code }) => code)).toEqual(['free', 'pro', 'max'])
})

describe.each(surfaces)('at %s', (surface) => {
  it('a file that fills the room exactly is taken, and a byte more is refused', async () => {
    const who = await someone()
    await fill(who, ofFree - 1000)
    expect(told(await upload(who, 1001, { surface }))).toBe(exceeded)
    expect(told(await upload(who, 1000, { surface }))).toBe('201')
    expect(await mediaBytes(who)).toBe(ofFree)
    expect(told(await upload(who, 1, { surface }))).toBe(exceeded)
    expect(incoming()).toEqual([])
  })

  it('a deleted file is gone from the disk, its address answers 404, and its room is free again', async () => {
    const who = await someone()
    await fill(who, ofFree - 1000)
    const { id, url } = (await upload(who, 1000, { surface })).body.data
    const address = new URL(new URL(url).pathname, gateways[1].url)
    expect((await fetch(address)).status).toBe(200)
    expect(filesOnDisk()).toContain(id)
    const client = api(gateways[0], undefined, proofOf(surface, who))
    const gone = await client.delete(`${surface}/${id}`)
    expect([gone.status, gone.body]).toEqual([200, { data: { id, deleted: true } }])
    const answer = await fetch(address)
    expect([answer.status, await answer.json()]).toEqual([404, { error: { code: 'NOT_FOUND', message: 'Media not found' } }])
    expect((await client.get(`${surface}/${id}`)).status).toBe(404)
    expect(filesOnDisk()).not.toContain(id)
    expect(await mediaBytes(who)).toBe(ofFree - 1000)
    expect(told(await upload(who, 1000, { surface }))).toBe('201')
    expect((await client.delete(`${surface}/${id}`)).status).toBe(404)
  })
})

describe('the graph', () => {
  it('deletes a file, of the own workspace alone', async () => {
    const [who, other] = [await someone(), await someone()]
    const { id } = (await upload(who, 'hello')).body.data
    const document = 'mutation ($id: ID!) { deleteMedia(id: $id) { id deleted } }'
    const foreign = await other.api.graphql(document, { id })
    expect(foreign.body.errors[0].extensions.code).toBe('NOT_FOUND')
    expect(filesOnDisk()).toContain(id)
    expect((await who.api.graphql(document, { id })).body).toEqual({ data: { deleteMedia: { id, deleted: true } } })
    expect(filesOnDisk()).not.toContain(id)
    expect((await who.api.graphql(document, { id })).body.errors[0].extensions.code).toBe('NOT_FOUND')
    expect((await who.api.graphql(document, { id: 'x' })).body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  })
})

describe('many uploads at once', () => {
  it('fill the room and no more, on two processes', { timeout: 60_000 }, async () => {
    const who = await someone()
    await fill(who, ofFree - 5 * 100_000)
    const before = filesOnDisk().length
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        upload(who, 100_000, { at: gateways[i % 2] as Gateway, surface: surfaces[Math.floor(i / 2) % 2] as Surface }),
      ),
    )
    const counts = Object.groupBy(answers, told)
    expect([counts['201']?.length, counts[exceeded]?.length]).toEqual([5, 15])
    expect(await mediaBytes(who)).toBe(ofFree)
    expect(filesOnDisk().length - before).toBe(5)
    expect(incoming()).toEqual([])
  })

  it('of one person hold no more of the disk than the plan stores, and are refused before they come', {
    timeout: 60_000,
  }, async () => {
    const [who, other] = [await someone(), await someone()]
    const form = rawForm('x'.repeat(60 * mib), 'form-data; name="file"; filename="a"')
    let go = () => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    const post = (surface: Surface, body: BodyInit) =>
      fetch(new URL(surface, gateways[0].url), {
        method: 'POST',
        headers: { ...proofOf(surface, who), ...form.headers },
        body,
        duplex: 'half',
      } as RequestInit)
    // Without a length it counts as the largest.
    const stream = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(form.body.slice(0, 2 * mib)))
        await held
        controller.enqueue(new TextEncoder().encode(form.body.slice(2 * mib)))
        controller.close()
      },
    })
    const first = post('/api/v1/media', stream)
    await until(() => incoming().length === 1)
    const refused = await post('/api/media', form.body)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toEqual({
      error: { code: 'API_RATE_LIMIT_EXCEEDED', message: 'At most 100 MiB of uploads at a time' },
    })
    expect(incoming()).toHaveLength(1)
    expect(told(await upload(other, 1000))).toBe('201')
    expect(told(await upload(who, 1000))).toBe('201')
    go()
    expect((await first).status).toBe(201)
    // The room is there for the next, and only as much as is left.
    expect((await post('/api/v1/media', form.body)).status).toBe(403)
    expect(incoming()).toEqual([])
  })
})

it('has as many files as its bytes have of 10 KiB', async () => {
  const who = await someone()
  await fill(who, 1, 10_239)
  expect(told(await upload(who, 'x'))).toBe('201')
  const { status, body } = await upload(who, 'x')
  expect([status, body.error]).toEqual([403, { code: 'MEDIA_STORAGE_EXCEEDED', message: 'The plan has room for 10240 files' }])
})

it('answers a repeated upload with its file also where there is no room for it again', async () => {
  const who = await someone()
  await fill(who, ofFree - 1000)
  const headers = { 'idempotency-key': newId() }
  const first = await upload(who, 1000, { headers })
  const second = await upload(who, 1000, { headers })
  expect([second.status, second.headers.get('idempotency-replayed'), second.body]).toEqual([201, 'true', first.body])
  expect(told(await upload(who, 999, { headers }))).toBe(exceeded)
  expect(await mediaBytes(who)).toBe(ofFree)
})

describe('a team', () => {
  it("stores in its owner's plan, for collaborators as well, who may delete", async () => {
    const [owner, member] = [await someone('pro'), await someone()]
    const { teamId, workspaceId } = await newTeam(rig, owner)
    await join(rig, teamId, member, 'collaborator')
    const inTeam = { surface: '/api/media', headers: { 'x-team-id': teamId } } as const
    const { id } = (await upload(member, 1000, inTeam)).body.data
    expect([await mediaBytes(owner), await mediaBytes(member)]).toEqual([1000, 0])
    await fill({ workspaceId }, 2 * 1024 ** 3 - 1000, 1)
    await fill(owner, 2 ** 31 - 1, 1)
    await fill(owner, 1024 ** 3 + 1 - 500, 1)
    expect(told(await upload(member, 501, inTeam))).toBe(exceeded)
    expect(told(await upload(owner, 500))).toBe('201')
    expect((await member.inTeam(teamId).delete(`/api/media/${id}`)).body).toEqual({ data: { id, deleted: true } })
    expect(told(await upload(member, 501, inTeam))).toBe('201')
  })

  it('that is deleted leaves no file behind, and counts until it has not', { timeout: 60_000 }, async () => {
    const owner = await someone('pro')
    const { teamId } = await newTeam(rig, owner)
    const { id } = (await upload(owner, 5000, { surface: '/api/media', headers: { 'x-team-id': teamId } })).body.data
    expect(await mediaBytes(owner)).toBe(5000)
    expect((await owner.api.delete(`/api/teams/${teamId}`)).status).toBe(200)
    await until(() => !filesOnDisk().includes(id), { timeoutMs: 30_000 })
    await until(async () => (await mediaBytes(owner)) === 0)
  })
})

describe('a process that dies', () => {
  it.each(['media.before_put', 'media.after_put'])('%s leaves a sum that the sweep puts right', async (failpoint) => {
    const doomed = await start({ FAILPOINT: `${failpoint}=kill` })
    const who = await someone()
    await expect(upload(who, 1000, { at: doomed })).rejects.toThrow()
    await doomed.exited
    expect(await mediaBytes(who), 'it may be on the disk').toBe(1000)
    await sql(databaseUrl).query(`update media set "createdAt" = "createdAt" - interval '3 hours' where "storedAt" is null`)
    await sweepMedia(await openApp(databaseUrl, { DATA_DIR: dataDir }))
    expect(await mediaBytes(who)).toBe(0)
  })

  it('in the middle of a deletion has deleted the file for everybody, and the sweep takes its bytes', async () => {
    const doomed = await start({ FAILPOINT: 'media.before_remove=kill' })
    const who = await someone()
    const { id, url } = (await upload(who, 1000)).body.data
    const cut = fetch(new URL(`/api/media/${id}`, doomed.url), { method: 'DELETE', headers: proofOf('/api/media', who) })
    await expect(cut).rejects.toThrow()
    await doomed.exited
    expect((await fetch(new URL(new URL(url).pathname, gateways[0].url))).status).toBe(404)
    expect([filesOnDisk().includes(id), await mediaBytes(who)]).toEqual([true, 1000])
    await sweepMedia(await openApp(databaseUrl, { DATA_DIR: dataDir }))
    expect([filesOnDisk().includes(id), await mediaBytes(who)]).toEqual([false, 0])
  })
})

it('is what the rows of the files add up to, whatever happened to them', async () => {
  const { rows } = await sql(databaseUrl).query(
    `select u."workspaceId", u.bytes, u.files, m.bytes as sum, m.files as count from media_usage u full join (
       select "workspaceId", sum(size) as bytes, count(*)::int as files from media group by "workspaceId"
     ) m using ("workspaceId") where u.bytes is distinct from coalesce(m.bytes, 0) or u.files is distinct from coalesce(m.files, 0)`,
  )
  expect(rows).toEqual([])
})
