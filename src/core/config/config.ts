// The only place that reads the environment: applies defaults and refuses contradictions, with all faults reported together.
import type { TrustProxy } from '../network/proxy.ts'
import { environment } from './environment.ts'
import { readFiles } from './files.ts'

export interface Config {
  port: number
  host: string
  /** Port of the probes and metrics alone; undefined means none. */
  healthPort: number | undefined
  /**
   * Base URL under which others reach this server, without a trailing slash. Without PUBLIC_URL it is the listening address, set
   * once the server listens.
   */
  publicUrl: string | undefined
  dataDir: string
  /** URL of the external database; undefined means embedded. */
  databaseUrl: string | undefined
  /** URL of the same database for connections that need a session of their own, if `databaseUrl` leads to a pooler. */
  databaseDirectUrl: string | undefined
  roles: ReadonlySet<'http' | 'worker' | 'relay'>
  logLevel: string
  accessLog: boolean
  mediaStore: 'disk' | 's3'
  /** Set if `mediaStore` is `s3`. */
  s3: { bucket: string; endpoint: string | undefined; region: string } | undefined
  allowedPrivateTargets: readonly string[]
  webhookRetryBaseMs: number
  /** From the stop signal until the process stops serving. */
  drainMs: number
  webhookTimeoutMs: number
  messageTtlMs: number
  /** 0 means for ever. */
  retentionDaysMessages: number
  rateLimitPerSecond: number
  personRateLimitPerSecond: number
  trustProxy: TrustProxy
  /** `callbackBase` is the configured address of this server, which Meta calls. `publicUrl` stands in for none. */
  cloud: { apiUrl: string; apiVersion: string; healthMs: number; reconcileMs: number; callbackBase: string | undefined }
  /** The network's own values where undefined. */
  web: { socketUrl: string | undefined; version: [number, number, number] | undefined; rootKey: Buffer | undefined }
  sandboxLatencyMs: number
  sandboxSeed: number
  /** Base URL of the links in mails, without a trailing slash; undefined means `publicUrl`. */
  consoleUrl: string | undefined
  /** Origins beside those of `publicUrl` and `consoleUrl` whose pages may call the API. */
  allowedOrigins: readonly string[]
  mailFrom: string
  /** New accounts: for everybody, for people with an open invitation to a team, or for nobody. */
  signUp: 'open' | 'invited' | 'closed'
  demo: boolean
  /** True if callers may create instances on the sandbox network. */
  sandbox: boolean
  production: boolean
  failpoint: string | undefined
  /** Memory of a password hash in tests. */
  hashMemoryKib: number | undefined
}

/** An OpenID Connect identity provider, configured by its discovery document. */
export interface OidcSettings {
  /** Name of the provider in URLs. */
  id: string
  discoveryUrl: string
  clientId: string
  clientSecret: string
  scopes: readonly string[]
}

export interface StripeSettings {
  secretKey: string
  webhookSecret: string
  /** Ids of the monthly prices at Stripe. */
  prices: { pro: string; max: string }
  apiUrl: string | undefined
}

/** Values that must never be printed, kept apart from {@link Config}. `secretKey` is undefined until the embedded set-up makes one. */
export interface Secrets {
  secretKey: Buffer | undefined
  /** Opens what was encrypted before the last change of `secretKey`. */
  previousSecretKey: Buffer | undefined
  metricsToken: string | undefined
  s3Credentials: { accessKeyId: string; secretAccessKey: string } | undefined
  /** Includes the password. */
  smtpUrl: string | undefined
  oidc: OidcSettings | undefined
  stripe: StripeSettings | undefined
}

export class ConfigError extends Error {
  override name = 'ConfigError'
}

/**
 * Reads the environment.
 * @throws ConfigError when variables are missing, malformed or contradictory; its message has one line for each fault.
 */
export function readConfig(env: Record<string, string | undefined> = process.env): { config: Config; secrets: Secrets } {
  // A value from a file often ends with a line break. An empty variable counts as not set, as in `PORT= npm start`.
  const trimmed = Object.entries(env).map(([name, value]) => [name, value?.trim()] as const)
  const set = Object.fromEntries(trimmed.filter(([, value]) => value !== ''))
  const { values: given, faults } = readFiles(set, Object.keys(environment.shape))
  const parsed = environment.safeParse(given)
  for (const issue of parsed.error?.issues ?? []) faults.push(`${issue.path[0]?.toString()}: ${issue.message}`)
  faults.push(...contradictionsOf(given))
  if (!parsed.success || faults.length > 0) throw new ConfigError([...new Set(faults)].join('\n'))
  const e = parsed.data
  return {
    config: {
      port: e.PORT,
      host: e.HOST,
      healthPort: e.HEALTH_PORT,
      publicUrl: e.PUBLIC_URL,
      dataDir: e.DATA_DIR,
      databaseUrl: e.DATABASE_URL,
      databaseDirectUrl: e.DATABASE_DIRECT_URL,
      roles: new Set(e.ROLES),
      logLevel: e.LOG_LEVEL,
      accessLog: e.ACCESS_LOG,
      mediaStore: e.MEDIA_STORE,
      s3: e.S3_BUCKET ? { bucket: e.S3_BUCKET, endpoint: e.S3_ENDPOINT, region: e.S3_REGION } : undefined,
      allowedPrivateTargets: e.ALLOWED_PRIVATE_TARGETS,
      webhookRetryBaseMs: e.WEBHOOK_RETRY_BASE_SECONDS * 1000,
      drainMs: e.DRAIN_SECONDS * 1000,
      // AbortSignal.timeout refuses fractions, and 16.1 × 1000 is 16100.000000000002.
      webhookTimeoutMs: Math.round(e.WEBHOOK_TIMEOUT_SECONDS * 1000),
      messageTtlMs: e.MESSAGE_TTL_SECONDS * 1000,
      retentionDaysMessages: e.RETENTION_DAYS_MESSAGES,
      rateLimitPerSecond: e.RATE_LIMIT_PER_SECOND,
      personRateLimitPerSecond: e.PERSON_RATE_LIMIT_PER_SECOND,
      trustProxy: e.TRUST_PROXY,
      cloud: {
        apiUrl: e.CLOUD_API_URL,
        apiVersion: e.CLOUD_API_VERSION,
        healthMs: e.CLOUD_HEALTH_SECONDS * 1000,
        reconcileMs: e.CLOUD_RECONCILE_SECONDS * 1000,
        callbackBase: e.PUBLIC_URL,
      },
      web: {
        socketUrl: e.WEB_SOCKET_URL,
        version: e.WEB_VERSION,
        rootKey: e.WEB_ROOT_KEY ? Buffer.from(e.WEB_ROOT_KEY, 'hex') : undefined,
      },
      sandboxLatencyMs: e.SANDBOX_LATENCY_MS,
      sandboxSeed: e.SANDBOX_SEED,
      consoleUrl: e.CONSOLE_URL,
      allowedOrigins: e.ALLOWED_ORIGINS,
      mailFrom: e.MAIL_FROM,
      signUp: e.SIGNUP ?? (e.DATABASE_URL ? 'invited' : 'open'),
      demo: e.DEMO ?? !e.DATABASE_URL,
      sandbox: e.NODE_ENV !== 'production' || e.SANDBOX === true,
      production: e.NODE_ENV === 'production',
      failpoint: e.NODE_ENV === 'test' ? e.FAILPOINT : undefined,
      hashMemoryKib: e.NODE_ENV === 'test' ? e.HASH_MEMORY_KIB : undefined,
    },
    secrets: {
      secretKey: e.SECRET_KEY ? Buffer.from(e.SECRET_KEY, 'hex') : undefined,
      previousSecretKey: e.SECRET_KEY_PREVIOUS ? Buffer.from(e.SECRET_KEY_PREVIOUS, 'hex') : undefined,
      metricsToken: e.METRICS_TOKEN,
      s3Credentials:
        e.S3_ACCESS_KEY_ID && e.S3_SECRET_ACCESS_KEY
          ? { accessKeyId: e.S3_ACCESS_KEY_ID, secretAccessKey: e.S3_SECRET_ACCESS_KEY }
          : undefined,
      smtpUrl: e.SMTP_URL,
      oidc:
        e.OIDC_DISCOVERY_URL && e.OIDC_CLIENT_ID && e.OIDC_CLIENT_SECRET
          ? {
              id: e.OIDC_PROVIDER,
              discoveryUrl: e.OIDC_DISCOVERY_URL,
              clientId: e.OIDC_CLIENT_ID,
              clientSecret: e.OIDC_CLIENT_SECRET,
              scopes: e.OIDC_SCOPES,
            }
          : undefined,
      stripe:
        e.STRIPE_SECRET_KEY && e.STRIPE_WEBHOOK_SECRET && e.STRIPE_PRICE_PRO && e.STRIPE_PRICE_MAX
          ? {
              secretKey: e.STRIPE_SECRET_KEY,
              webhookSecret: e.STRIPE_WEBHOOK_SECRET,
              prices: { pro: e.STRIPE_PRICE_PRO, max: e.STRIPE_PRICE_MAX },
              apiUrl: e.STRIPE_API_URL,
            }
          : undefined,
    },
  }
}

/** Variables that must be set together or not at all. */
const groups = [
  ['OIDC_DISCOVERY_URL', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'],
  ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICE_PRO', 'STRIPE_PRICE_MAX'],
]

const listening = environment.pick({ PORT: true, HEALTH_PORT: true, ROLES: true })

/** Returns the faults of variables that contradict or need each other. */
function contradictionsOf(given: Record<string, string | undefined>): string[] {
  const faults: string[] = []
  if (given.DATABASE_URL && !given.SECRET_KEY) {
    faults.push(
      'SECRET_KEY: is required with DATABASE_URL, so that all processes encrypt with the same key; generate one with `openssl rand -hex 32`',
    )
  }
  if (given.DATABASE_DIRECT_URL && !given.DATABASE_URL) faults.push('DATABASE_DIRECT_URL: needs DATABASE_URL')
  const { PORT, HEALTH_PORT, ROLES } = listening.safeParse(given).data ?? {}
  if (HEALTH_PORT && HEALTH_PORT === PORT && ROLES?.includes('http')) {
    faults.push('HEALTH_PORT: must differ from PORT, which answers the same paths in a process with the role http')
  }
  for (const group of groups) {
    const missing = group.filter((name) => !given[name])
    if (missing.length < group.length) {
      const present = group.filter((name) => given[name]).join(', ')
      faults.push(...missing.map((name) => `${name}: is required with ${present}`))
    }
  }
  const ofS3 = Object.keys(environment.shape).filter((name) => name.startsWith('S3_') && given[name])
  if (given.MEDIA_STORE !== 's3') return [...faults, ...ofS3.map((name) => `${name}: needs MEDIA_STORE=s3`)]
  if (!given.S3_BUCKET) faults.push('S3_BUCKET: is required with MEDIA_STORE=s3')
  if (Boolean(given.S3_ACCESS_KEY_ID) !== Boolean(given.S3_SECRET_ACCESS_KEY)) {
    faults.push('S3_ACCESS_KEY_ID: must be set together with S3_SECRET_ACCESS_KEY')
  }
  return faults
}
