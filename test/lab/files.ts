// The bucket of the lab, the client that uploads files, and the reading of all of them at the end.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { openS3, type S3Server } from '../kit/s3-server.ts'
import { until } from '../kit/until.ts'
import { type Posts, takeTurns } from './posts.ts'

const restMs = 500
const mostBytes = 200_000

const credentials = { accessKeyId: 'LAB', secretAccessKey: 'the secret of the lab', region: 'eu-central-1' }

/** A bucket, and the variables by which the nodes store their files in it. */
export async function openBucket(): Promise<{ bucket: S3Server; env: Record<string, string> }> {
  const bucket = await openS3(credentials)
  const env = {
    MEDIA_STORE: 's3',
    S3_BUCKET: 'lab',
    S3_ENDPOINT: bucket.url,
    S3_REGION: credentials.region,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
  return { bucket, env }
}

export interface Filing {
  /** The content of each acknowledged file, by its id. */
  stored: ReadonlyMap<string, Buffer>
  /** Ends the load; what has begun is repeated until it is answered. */
  stop: () => Promise<void>
}

/** Uploads one file after the other. */
export function startFiling(posts: Posts, random: () => number): Filing {
  const stored = new Map<string, Buffer>()
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const content = Buffer.from(randomBytes(1 + Math.floor((mostBytes / 2) * random())).toString('hex'))
      const form = new FormData()
      form.append('file', new Blob([content], { type: 'text/plain' }), 'lab.txt')
      const made = await posts.post('media', form)
      if (made) stored.set(made.id, content)
      await pause(restMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()
  return {
    stored,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** Reads every stored file through one address after the other. Returns the ids of those that are gone or not the same. */
export async function findDamaged(stored: Filing['stored'], urls: readonly string[], apiKey: string): Promise<string[]> {
  const nextUrl = takeTurns(urls)
  const damaged: string[] = []
  for (const [id, content] of stored) {
    const read = async () => {
      const answer = await fetch(`${nextUrl()}/api/v1/media/${id}`, { headers: { 'x-api-key': apiKey } })
      return answer.status < 500 ? { ok: answer.ok, body: Buffer.from(await answer.arrayBuffer()) } : undefined
    }
    const { ok, body } = await until(read)
    if (!ok || !body.equals(content)) damaged.push(id)
  }
  return damaged
}
