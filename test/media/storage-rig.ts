// Setup for tests of storage: two gateways on one media folder, uploads, and rows that stand for many uploaded files.
import { readdirSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { newPerson, type Person } from '../accounts/person.ts'
import type { Answer } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { expectDocumented } from '../kit/document.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { dataFolder } from '../promises/demo.ts'
import type { Rig } from '../teams/rig.ts'

/** Bytes that the plan `free` stores. */
export const ofFree = 100 * 1024 ** 2
export const exceeded = '403 MEDIA_STORAGE_EXCEEDED'

export type Surface = '/api/v1/media' | '/api/media'
export const surfaces: Surface[] = ['/api/v1/media', '/api/media']

export function proofOf(surface: Surface, { apiKey, token }: Person): Record<string, string> {
  return surface === '/api/v1/media' ? { 'x-api-key': apiKey } : { authorization: `Bearer ${token}` }
}

/** The status of a response, and its error code if it has one. */
export const outcome = ({ status, body }: Answer): string => `${status} ${body.error?.code ?? ''}`.trimEnd()

export type Storage = Awaited<ReturnType<typeof openStorage>>

export async function openStorage() {
  const databaseUrl = await cloneDatabase()
  const dataDir = await dataFolder()
  // The first upload would create this folder, but tests read it earlier.
  await mkdir(path.join(dataDir, 'media', 'incoming'), { recursive: true })

  const own = { DATA_DIR: dataDir, PUBLIC_URL: 'http://gateway.example.com', RATE_LIMIT_PER_SECOND: '100000' }
  function start(env: Record<string, string> = {}): Promise<Gateway> {
    return startGateway({ databaseUrl, env: { ...own, ...env } })
  }
  const gateways = await Promise.all([openGateway({ databaseUrl, env: own }), start()])
  const rig: Rig = { databaseUrl, gateway: gateways[0], mailDir: '' }

  return {
    databaseUrl,
    dataDir,
    gateways,
    rig,
    start,
    someone: (plan: 'free' | 'pro' | 'max' = 'free') => newPerson(gateways[0], databaseUrl, plan),

    /** Uploads a text of so many bytes, or the text itself. */
    async upload(
      who: Person,
      content: number | string,
      { at = gateways[0] as { url: string }, surface = '/api/v1/media' as Surface, headers = {} as Record<string, string> } = {},
    ): Promise<Answer> {
      const form = new FormData()
      form.append('file', new Blob([typeof content === 'string' ? content : 'x'.repeat(content)]), 'a')
      const init = { method: 'POST', body: form, headers: { ...proofOf(surface, who), ...headers } }
      const response = await fetch(new URL(surface, at.url), init)
      const answer = { status: response.status, headers: response.headers, body: await response.json() }
      expectDocumented({ method: 'POST', path: surface, ...answer })
      return answer
    },

    /** Adds rows as if so many files of so many bytes each had been uploaded. */
    async fill({ workspaceId }: Pick<Person, 'workspaceId'>, bytes: number, files = 1): Promise<void> {
      await sql(databaseUrl).query(
        `insert into media (id, "workspaceId", token, "mimeType", size, "storedAt")
         select gen_random_uuid(), $1, gen_random_uuid()::text, 'text/plain', $2, now() from generate_series(1, $3)`,
        [workspaceId, bytes, files],
      )
    },

    /** The stored bytes as GraphQL reports them. */
    async mediaBytes(who: Person): Promise<number> {
      const { body } = await who.api.graphql('{ usage { mediaBytes plan { limits { maxMediaBytes } } } }')
      return body.data.usage.mediaBytes
    },

    /** The workspaces with a stored sum that differs from the total of their files. */
    async wrongSums(): Promise<object[]> {
      const { rows } = await sql(databaseUrl).query(
        `select u."workspaceId", u.bytes, u.files, m.bytes as sum, m.files as count from media_usage u full join (
           select "workspaceId", sum(size) as bytes, count(*)::int as files from media group by "workspaceId"
         ) m using ("workspaceId") where u.bytes is distinct from coalesce(m.bytes, 0) or u.files is distinct from coalesce(m.files, 0)`,
      )
      return rows
    },

    filesOnDisk: () => readdirSync(path.join(dataDir, 'media')).filter((name) => name !== 'incoming'),
    /** The files of uploads in progress. */
    incoming: () => readdirSync(path.join(dataDir, 'media', 'incoming')),
  }
}
