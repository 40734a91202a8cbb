// The one place that reads the environment, decides defaults and refuses contradictions, all faults together.
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback)
const flag = z.enum(['0', '1']).transform((value) => value === '1')
const cidrs = z
  .string()
  .transform((value) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .refine((parts) => parts.every((part) => ipaddr.isValidCIDR(part)), 'must be comma-separated CIDRs, for example 127.0.0.1/32')
const roles = z
  .string()
  .transform((value) => value.split(',').map((part) => part.trim()))
  .pipe(z.array(z.enum(['http', 'worker', 'relay'])).min(1))

/** Every variable the gateway knows. The descriptions are README's table. */
export const environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65535).default(4000).describe('Port to listen on; 0 takes any free one and prints it'),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Address that others reach this server by, where it differs from the one listened on; pages of that origin may call it',
    ),
  DATA_DIR: z
    .string()
    .min(1)
    .default('.data')
    .describe('Folder of the embedded database, of the secret key and of uploaded files'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .optional()
    .describe('Your own PostgreSQL (15 or newer); without it an embedded one is started'),
  DATABASE_BACKEND: z
    .enum(['postgres', 'yugabytedb', 'cockroachdb', 'citus'])
    .default('postgres')
    .describe('Which engine stands behind DATABASE_URL'),
  ROLES: roles.default(['http', 'worker', 'relay']).describe('What this process does; comma-separated'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('The least level that is logged'),
  SECRET_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'must be 32 bytes in hex (64 digits)')
    .optional()
    .describe(
      'Encrypts webhook secrets and provider credentials at rest, 32 bytes in hex; made and kept in DATA_DIR with the embedded database, required with DATABASE_URL',
    ),
  MEDIA_STORE: z
    .enum(['disk', 's3'])
    .default('disk')
    .describe('Where uploaded files are kept: `disk` is DATA_DIR/media, `s3` a bucket that speaks S3'),
  S3_BUCKET: z.string().min(1).optional().describe('The bucket of MEDIA_STORE=s3'),
  S3_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Address of an S3 that is not Amazon's, for example http://127.0.0.1:9000"),
  S3_REGION: z.string().min(1).default('us-east-1').describe('Region of the bucket'),
  S3_ACCESS_KEY_ID: z
    .string()
    .min(1)
    .optional()
    .describe("Credentials for the bucket; without them those that Amazon's SDK finds by itself"),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('The other half of the credentials'),
  ALLOWED_PRIVATE_TARGETS: cidrs
    .default([])
    .describe('Private networks that webhooks and media may reach, http included; comma-separated CIDRs'),
  WEBHOOK_RETRY_BASE_SECONDS: z.coerce
    .number()
    .positive()
    .default(30)
    .describe('Gap before the second webhook attempt; each later gap is ten times the one before'),
  WEBHOOK_TIMEOUT_SECONDS: z.coerce.number().positive().default(15).describe('Longest duration of one webhook attempt'),
  MESSAGE_TTL_SECONDS: positive(86_400).describe('How long a message waits for its instance before it fails with EXPIRED'),
  RATE_LIMIT_PER_SECOND: positive(10).describe('Requests that one API key may make in any one second'),
  TRUST_PROXY: flag.default(false).describe('1 takes the client address from X-Forwarded-For'),
  SANDBOX_LATENCY_MS: z.coerce.number().int().min(0).default(200).describe('Time that each step takes on the sandbox network'),
  SANDBOX_SEED: z.coerce.number().int().default(1).describe('Seed of what the sandbox network makes up'),
  METRICS_TOKEN: z.string().min(1).optional().describe('Bearer token of /metrics; without it only loopback may read them'),
  DEMO: flag.optional().describe('1 makes a demo account on an empty database; on by default with the embedded one'),
  NODE_ENV: z
    .string()
    .optional()
    .describe('`production`: GraphiQL is not served, and no page knows the key of the demo; `test`: FAILPOINT is read'),
  FAILPOINT: z.string().optional().describe('Tests only: name=kill, name=throw or name=sleep at a named commit boundary'),
})

export interface Config {
  port: number
  host: string
  /** Where others reach this server; without PUBLIC_URL the address listened on, from when it listens. */
  publicUrl: string | undefined
  dataDir: string
  /** The outside database; undefined means embedded. */
  databaseUrl: string | undefined
  databaseBackend: 'postgres' | 'yugabytedb' | 'cockroachdb' | 'citus'
  roles: ReadonlySet<'http' | 'worker' | 'relay'>
  logLevel: string
  mediaStore: 'disk' | 's3'
  /** Set where the store is `s3`. */
  s3: { bucket: string; endpoint: string | undefined; region: string } | undefined
  allowedPrivateTargets: readonly string[]
  webhookRetryBaseMs: number
  webhookTimeoutMs: number
  messageTtlMs: number
  rateLimitPerSecond: number
  trustProxy: boolean
  sandboxLatencyMs: number
  sandboxSeed: number
  demo: boolean
  production: boolean
  failpoint: string | undefined
}

/** What must never be printed, kept apart from {@link Config}. `secretKey` is undefined until the embedded set-up makes one. */
export interface Secrets {
  secretKey: Buffer | undefined
  metricsToken: string | undefined
  s3Credentials: { accessKeyId: string; secretAccessKey: string } | undefined
}

export class ConfigError extends Error {
  override name = 'ConfigError'
}

/**
 * Reads the environment.
 * @throws ConfigError with one line for each fault, all of them together.
 */
export function readConfig(env: Record<string, string | undefined> = process.env): { config: Config; secrets: Secrets } {
  // An empty variable means one that is not set, as in `PORT= npm start`.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(given)
  const faults = parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path[0]?.toString()}: ${issue.message}`)
  faults.push(...contradictionsOf(given))
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults.join('\n'))
  const e = parsed.data
  return {
    config: {
      port: e.PORT,
      host: e.HOST,
      publicUrl: e.PUBLIC_URL,
      dataDir: e.DATA_DIR,
      databaseUrl: e.DATABASE_URL,
      databaseBackend: e.DATABASE_BACKEND,
      roles: new Set(e.ROLES),
      logLevel: e.LOG_LEVEL,
      mediaStore: e.MEDIA_STORE,
      s3: e.S3_BUCKET ? { bucket: e.S3_BUCKET, endpoint: e.S3_ENDPOINT, region: e.S3_REGION } : undefined,
      allowedPrivateTargets: e.ALLOWED_PRIVATE_TARGETS,
      webhookRetryBaseMs: e.WEBHOOK_RETRY_BASE_SECONDS * 1000,
      webhookTimeoutMs: e.WEBHOOK_TIMEOUT_SECONDS * 1000,
      messageTtlMs: e.MESSAGE_TTL_SECONDS * 1000,
      rateLimitPerSecond: e.RATE_LIMIT_PER_SECOND,
      trustProxy: e.TRUST_PROXY,
      sandboxLatencyMs: e.SANDBOX_LATENCY_MS,
      sandboxSeed: e.SANDBOX_SEED,
      demo: e.DEMO ?? !e.DATABASE_URL,
      production: e.NODE_ENV === 'production',
      failpoint: e.NODE_ENV === 'test' ? e.FAILPOINT : undefined,
    },
    secrets: {
      secretKey: e.SECRET_KEY ? Buffer.from(e.SECRET_KEY, 'hex') : undefined,
      metricsToken: e.METRICS_TOKEN,
      s3Credentials:
        e.S3_ACCESS_KEY_ID && e.S3_SECRET_ACCESS_KEY
          ? { accessKeyId: e.S3_ACCESS_KEY_ID, secretAccessKey: e.S3_SECRET_ACCESS_KEY }
          : undefined,
    },
  }
}

/** What does not go together. */
function contradictionsOf(given: Record<string, string | undefined>): string[] {
  const faults: string[] = []
  if (given.DATABASE_URL && !given.SECRET_KEY) {
    faults.push(
      'SECRET_KEY: is required with DATABASE_URL, so that every process seals with the same key; make one with `openssl rand -hex 32`',
    )
  }
  if (!given.DATABASE_URL && given.DATABASE_BACKEND && given.DATABASE_BACKEND !== 'postgres') {
    faults.push('DATABASE_BACKEND: needs DATABASE_URL; the embedded database is PostgreSQL')
  }
  const ofS3 = Object.keys(environment.shape).filter((name) => name.startsWith('S3_') && given[name])
  if (given.MEDIA_STORE !== 's3') return [...faults, ...ofS3.map((name) => `${name}: needs MEDIA_STORE=s3`)]
  if (!given.S3_BUCKET) faults.push('S3_BUCKET: is required with MEDIA_STORE=s3')
  if (Boolean(given.S3_ACCESS_KEY_ID) !== Boolean(given.S3_SECRET_ACCESS_KEY)) {
    faults.push('S3_ACCESS_KEY_ID: goes together with S3_SECRET_ACCESS_KEY; give both or neither')
  }
  return faults
}
