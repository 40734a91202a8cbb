// Media store in an S3 bucket. Its packages are loaded only when a bucket is configured.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { type Config, ConfigError, type Secrets } from '../core/config/config.ts'
import { newId } from '../core/id.ts'
import { isUnavailable, ServiceAway } from '../core/public-failure.ts'
import type { ByteRange, MediaStore } from './store.ts'

const packages = ['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner']
/** Timeout of each check of the bucket. */
const checkMs = 5_000

/** Object key of a file. The bucket may hold other objects. */
const keyOf = (id: string) => `media/${id}`

/** @throws ConfigError when the packages are missing. */
export function openS3(config: NonNullable<Config['s3']>, credentials: Secrets['s3Credentials']): MediaStore {
  const missing = packages.filter((name) => !isInstalled(name))
  if (missing.length > 0)
    throw new ConfigError(`MEDIA_STORE: s3 requires ${missing.join(' and ')}; run \`npm install --include=optional\``)
  let opened: ReturnType<typeof open> | undefined

  async function open() {
    const { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } = await import(
      '@aws-sdk/client-s3'
    )
    const { S3Driver } = await import('flydrive/drivers/s3')
    const client = new S3Client({
      region: config.region,
      credentials,
      endpoint: config.endpoint,
      // S3-compatible services may support only path-style URLs, and not the newer checksums.
      forcePathStyle: config.endpoint !== undefined,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: 5_000, socketTimeout: 30_000 },
    })
    boundAnswers(client.config.requestHandler)
    // A server in between may report success and keep nothing, or a part.
    async function sizeOf(Key: string): Promise<number | undefined> {
      const late = AbortSignal.timeout(checkMs)
      return (await client.send(new HeadObjectCommand({ Bucket: config.bucket, Key }), { abortSignal: late })).ContentLength
    }
    // The driver does not support ranges.
    const getRange = (Key: string, { start, end }: ByteRange) =>
      client.send(new GetObjectCommand({ Bucket: config.bucket, Key, Range: `bytes=${start}-${end}` }))
    // Needs only the permissions that files need: the credentials may have no permission for the bucket as a whole.
    async function tryOut(Key: string, abortSignal: AbortSignal): Promise<void> {
      const object = { Bucket: config.bucket, Key }
      await client.send(new PutObjectCommand({ ...object, Body: 'x' }), { abortSignal })
      const { Body } = await client.send(new GetObjectCommand(object), { abortSignal })
      await Body?.transformToString()
      await client.send(new DeleteObjectCommand(object), { abortSignal })
    }
    return {
      tryOut,
      sizeOf,
      driver: new S3Driver({ client, bucket: config.bucket, visibility: 'private', supportsACL: false }),
      getRange,
    }
  }

  function bucketOf(): ReturnType<typeof open> {
    opened ??= open()
    return opened
  }

  return {
    async put(id, path, size) {
      const { driver, sizeOf } = await bucketOf()
      const bytes = createReadStream(path)
      const kept = await asked(async () => {
        await driver.putStream(keyOf(id), bytes, { contentLength: size })
        return await sizeOf(keyOf(id))
      }).finally(() => bytes.destroy())
      if (kept !== size) throw new Error(`the bucket took ${size} bytes and has ${kept ?? 'none'} of them`)
    },
    async read(id, range) {
      const { getRange } = await bucketOf()
      try {
        const { Body, ContentLength, ContentRange } = await asked(() => getRange(keyOf(id), range))
        const isWhatWasAsked =
          ContentLength === range.end - range.start + 1 && (ContentRange ?? rangeOf(range)).startsWith(rangeOf(range))
        if (isWhatWasAsked) return Body as Readable
        ;(Body as Readable | undefined)?.destroy()
        throw new Error(
          `the bucket gave ${ContentLength ?? 'unknown'} bytes (${ContentRange ?? 'no range'}) for ${rangeOf(range)}`,
        )
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return undefined
        throw error
      }
    },
    async remove(id) {
      const { driver } = await bucketOf()
      await asked(() => driver.delete(keyOf(id)))
    },
    async check() {
      const { bucket, endpoint = `S3 in ${config.region}` } = config
      const { tryOut } = await bucketOf()
      const late = AbortSignal.timeout(checkMs)
      await tryOut(keyOf(`check-${newId()}`), late).catch((error: Error) => {
        const why = late.aborted ? `no answer within ${checkMs / 1_000} s` : error.message || error.name
        throw new Error(`the bucket ${bucket} at ${endpoint} cannot be used (${why}); check S3_*`)
      })
      return `the bucket ${bucket} at ${endpoint} can be written, read and cleared`
    },
  }
}

/** Refusals of our credentials, which only the operator can change. A 403 alone may also mean that the object is missing. */
const refusals = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken', 'RequestTimeTooSkewed'])

/** Runs a call to the bucket. @throws ServiceAway when the bucket cannot be reached, is overloaded or too slow, or refuses our credentials. */
async function asked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const { $metadata, name } = (error as { cause?: ServiceError }).cause ?? (error as ServiceError)
    const status = $metadata?.httpStatusCode ?? 0
    // The client says AbortError when the time of a check is over.
    const isLate = name === 'TimeoutError' || name === 'AbortError'
    const isAway = isUnavailable(error) || status >= 500 || status === 429 || isLate || refusals.has(name ?? '')
    throw isAway ? new ServiceAway('the bucket does not serve', { cause: error }) : error
  }
}

/** An error of the S3 client, which the driver wraps. */
interface ServiceError {
  name?: string
  $metadata?: { httpStatusCode?: number }
}

const rangeOf = ({ start, end }: ByteRange) => `bytes ${start}-${end}`

/** Limits above the size of any response that is not a file, and above its duration from the headers to the end. */
const maxAnswerBytes = 1024 * 1024
const maxAnswerMs = 30_000

type Handle = (request: { method?: string }, ...rest: never[]) => Promise<{ response: { statusCode: number; body?: unknown } }>

/** Aborts endless responses that are not files. The client would read them whole. */
function boundAnswers(handler: unknown): void {
  const own = handler as { handle: Handle }
  const handle = own.handle.bind(own)
  own.handle = async (request, ...rest) => {
    const { response } = await handle(request, ...rest)
    const { body } = response
    const isFile = request.method === 'GET' && response.statusCode < 300
    if (!isFile && body instanceof Readable) {
      let bytes = 0
      body.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > maxAnswerBytes) body.destroy(new Error('the bucket sends an endless answer'))
      })
      const late = setTimeout(() => body.destroy(new Error('the bucket does not end its answer')), maxAnswerMs)
      body.once('close', () => clearTimeout(late))
      // The listener above started the flow; the consumer resumes it.
      body.pause()
    }
    return { response }
  }
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
