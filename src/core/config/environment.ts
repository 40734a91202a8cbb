// Schema of every environment variable: format, default and description.
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { isProxy, proxyNames, type TrustProxy } from '../network/proxy.ts'
// Imported for its side effect: it sets the messages of zod, which every reader of the configuration needs.
import '../validation.ts'
import { base, consoleBase, database, isOrigin, url } from './urls.ts'

/** Bounded by the integers of PostgreSQL, which counts the requests. */
const perSecond = (fallback: number) => z.coerce.number().int().positive().max(1_000_000_000).default(fallback)
/** Bounded, because Node runs a timer of more than 2^31 ms at once, and a date too far ahead is invalid. */
const seconds = (most: number) => z.coerce.number().min(0.001).max(most)
const port = z.coerce.number().int().min(0).max(65_535)
const flag = z.enum(['0', '1']).transform((value) => value === '1')
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
)
const cidrs = list.refine(
  (parts) => parts.every((part) => ipaddr.isValidCIDR(part)),
  'must be comma-separated CIDRs, for example 127.0.0.1/32',
)
const roles = z
  .string()
  .transform((value) => value.split(',').map((part) => part.trim()))
  .pipe(z.array(z.enum(['http', 'worker', 'relay'])).min(1))

/** `0`, a number of proxies, or a list of their addresses, CIDRs and names. */
const proxies = list
  .refine(
    (parts) => parts.length > 0 && (/^\d{1,2}$/.test(parts.join()) || parts.every(isProxy)),
    `must be the number of trusted proxies (1, 2, …), or their addresses, CIDRs and names (${proxyNames.join(', ')}), comma-separated; 0 for none`,
  )
  .transform((parts): TrustProxy => (/^\d+$/.test(parts.join()) ? Number(parts[0]) || false : parts))

/** An e-mail address, with or without a name before it. From anything else the mail library makes a mail without a sender. */
const isSender = (value: string) =>
  /^(?:(?:"[^"\\]*"|[^<>",;:@]*)\s*<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/.test(value.trim())

const key = z.string().regex(/^[0-9a-f]{64}$/i, 'must be 32 bytes in hex (64 digits)')

/** Every variable that the gateway reads. `gateway config` prints the descriptions. */
export const environment = z.object({
  PORT: port.default(4000).describe('Port to listen on; 0 selects a free port and prints it'),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on'),
  HEALTH_PORT: port
    .optional()
    .describe(
      'A second port on HOST, which a process of any roles opens: it answers /livez, /readyz and /metrics and nothing else; 0 selects a free port and prints it. A process without the role `http` has no other port',
    ),
  PUBLIC_URL: base
    .optional()
    .describe(
      'Public address of this server, if it differs from the address it listens on; browsers may call the API from pages of this origin. If it has a path, the proxy in front removes that path from requests',
    ),
  DATA_DIR: z.string().min(1).default('.data').describe('Folder of the embedded database, the secret key and uploaded files'),
  DATABASE_URL: database.optional().describe('Your own PostgreSQL (15 or newer); without it the gateway starts an embedded one'),
  DATABASE_DIRECT_URL: database
    .optional()
    .describe(
      'The same database without a pooler. Set it if DATABASE_URL leads to a pooler that shares connections by transaction (PgBouncer); notifications, session locks, jobs and migrations use it',
    ),
  DATABASE_BACKEND: z
    .enum(['postgres'])
    .default('postgres')
    .describe('Database engine behind DATABASE_URL; there is no other one yet'),
  ROLES: roles.default(['http', 'worker', 'relay']).describe('Roles of this process; comma-separated'),
  DRAIN_SECONDS: z.coerce
    .number()
    .min(0)
    .max(30)
    .default(0)
    .describe(
      'Seconds that the process continues to serve after SIGTERM while GET /readyz answers 503, so that the load balancer stops sending requests first; set it longer than the balancer needs to notice',
    ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Lowest level that is logged'),
  ACCESS_LOG: flag
    .default(false)
    .describe(
      '1 logs one line for each request: method, route, status, duration, request id, address and account; never its query, headers or body',
    ),
  SECRET_KEY: key
    .optional()
    .describe(
      'Key that encrypts webhook secrets, provider credentials and sign-in keys at rest, and event cursors; 32 bytes in hex. Generated and kept in DATA_DIR with the embedded database, required with DATABASE_URL',
    ),
  SECRET_KEY_PREVIOUS: key
    .optional()
    .describe(
      'Key to which SECRET_KEY was set before, 32 bytes in hex: while it is set, both keys decrypt, and SECRET_KEY encrypts. `gateway reseal` encrypts everything stored with SECRET_KEY; then remove this one. Event cursors stay valid while it is set. People sign in again, and the key of the demo account is no longer handed out',
    ),
  MEDIA_STORE: z
    .enum(['disk', 's3'])
    .default('disk')
    .describe('Storage of uploaded files: `disk` is DATA_DIR/media, `s3` an S3-compatible bucket'),
  S3_BUCKET: z.string().min(1).optional().describe('Bucket of MEDIA_STORE=s3'),
  S3_ENDPOINT: url('http', 'https')
    .optional()
    .describe("Address of an S3-compatible service other than Amazon's, for example http://127.0.0.1:9000"),
  S3_REGION: z.string().min(1).default('us-east-1').describe('Region of the bucket'),
  S3_ACCESS_KEY_ID: z
    .string()
    .min(1)
    .optional()
    .describe("Credentials for the bucket; without them Amazon's SDK looks for its own"),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional().describe('Secret part of the credentials'),
  ALLOWED_PRIVATE_TARGETS: cidrs
    .default([])
    .describe('Private networks that webhooks and media may reach, also by http; comma-separated CIDRs'),
  WEBHOOK_RETRY_BASE_SECONDS: seconds(86_400)
    .default(30)
    .describe('Delay before the second webhook attempt; each later delay is ten times the previous one'),
  WEBHOOK_TIMEOUT_SECONDS: seconds(600).default(15).describe('Maximum duration of a webhook attempt'),
  MESSAGE_TTL_SECONDS: seconds(315_360_000)
    .int()
    .default(86_400)
    .describe('How long a message waits for its instance to connect before it fails with EXPIRED'),
  RETENTION_DAYS_MESSAGES: z.coerce
    .number()
    .min(0)
    .max(36_500)
    .default(0)
    .describe('Days after which messages are deleted, fractions allowed; 0 keeps them for ever. A workspace may choose fewer'),
  RATE_LIMIT_PER_SECOND: perSecond(10).describe('Requests that an API key may send in any one second'),
  PERSON_RATE_LIMIT_PER_SECOND: perSecond(50).describe(
    'Requests that a signed-in user may send in any one second, over all sessions',
  ),
  TRUST_PROXY: proxies
    .default(false)
    .describe(
      'Trusted proxies that write X-Forwarded-For: their number (`1` for one, if clients cannot bypass it), or their addresses and CIDRs, `loopback`, `linklocal`, `uniquelocal`, comma-separated. The client is the rightmost address that belongs to no trusted proxy',
    ),
  CONSOLE_URL: consoleBase
    .optional()
    .describe('Address of the console, the target of links in mails and of sign-ins; defaults to PUBLIC_URL'),
  SIGNUP: z
    .enum(['open', 'invited', 'closed'])
    .optional()
    .describe(
      'New accounts by sign-up or single sign-on: `open`, `invited` (only addresses with an open invitation to a team) or `closed`; `open` by default with the embedded database, otherwise `invited`',
    ),
  ALLOWED_ORIGINS: list
    .refine((origins) => origins.every(isOrigin), 'must be comma-separated origins, for example https://app.example.com')
    .default([])
    .describe(
      'Further origins from whose pages browsers may call the API and sign in; comma-separated, for example https://app.example.com',
    ),
  SMTP_URL: url('smtp', 'smtps')
    .optional()
    .describe(
      'Mail server, with user and password, for example smtp://user:password@mail.example.com:587 (encrypts if the server offers it) or smtps://user:password@mail.example.com:465; without it mails are written to DATA_DIR/mail',
    ),
  MAIL_FROM: z
    .string()
    .refine(isSender, 'must be one address, for example Messages <no-reply@example.com>')
    .default('Messaging gateway <gateway@localhost>')
    .describe('Sender of mails'),
  OIDC_PROVIDER: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -')
    .default('sso')
    .describe('Name of the identity provider in addresses: /api/auth/oauth/NAME'),
  OIDC_DISCOVERY_URL: url('http', 'https')
    .optional()
    .describe("The identity provider's discovery document (`…/.well-known/openid-configuration`)"),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('Client id at the identity provider'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('Client secret at the identity provider'),
  OIDC_SCOPES: list
    .pipe(z.array(z.string()).min(1))
    .default(['openid', 'email', 'profile'])
    .describe('Scopes to request; comma-separated'),
  STRIPE_SECRET_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('Secret key of Stripe, which then takes payments; without it an operator confirms orders'),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .min(1)
    .optional()
    .describe('Signing secret of the endpoint /api/billing/stripe/webhook at Stripe'),
  STRIPE_PRICE_PRO: z.string().min(1).optional().describe("Id of the Pro plan's monthly price at Stripe"),
  STRIPE_PRICE_MAX: z.string().min(1).optional().describe("Id of the MAX plan's monthly price at Stripe"),
  STRIPE_API_URL: url('http', 'https').optional().describe("Other address of Stripe's API, for tests"),
  CLOUD_API_URL: base.default('https://graph.facebook.com').describe("Address of Meta's Graph API, for instances of `cloud`"),
  CLOUD_API_VERSION: z
    .string()
    .regex(/^v\d{1,3}\.\d{1,2}$/, 'must be a version such as v25.0')
    .default('v25.0')
    .describe('Version of the Graph API'),
  CLOUD_HEALTH_SECONDS: seconds(604_800)
    .int()
    .default(900)
    .describe('Seconds between two checks of the health of each `cloud` number'),
  CLOUD_RECONCILE_SECONDS: seconds(604_800)
    .int()
    .default(300)
    .describe('How long a `cloud` message whose answer was lost waits for a status before it fails with UNKNOWN_OUTCOME'),
  WEB_SOCKET_URL: url('ws', 'wss').optional().describe("Address of WhatsApp Web's socket; without it the network's own"),
  WEB_VERSION: z
    .string()
    .regex(/^\d+,\d+,\d+$/, 'must be three numbers with commas between, such as 2,3000,1043857760')
    .transform((value) => value.split(',').map(Number) as [number, number, number])
    .optional()
    .describe('Version of WhatsApp Web that instances of `web` report; without it the one that their package knows'),
  WEB_ROOT_KEY: key
    .optional()
    .describe("Public key to which the certificate of WhatsApp Web's socket must chain, 32 bytes in hex; for tests on loopback"),
  SANDBOX_LATENCY_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3_600_000)
    .default(200)
    .describe('Duration of each step on the sandbox network'),
  SANDBOX_SEED: z.coerce.number().int().default(1).describe("Seed of the sandbox network's random behaviour"),
  METRICS_TOKEN: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Bearer token that /metrics requires; without it /metrics answers only requests from this machine that come through no proxy',
    ),
  SANDBOX: flag
    .optional()
    .describe('1 allows instances on the sandbox network with NODE_ENV=production; otherwise they are always allowed'),
  DEMO: flag.optional().describe('1 creates a demo account in an empty database; on by default with the embedded database'),
  NODE_ENV: z
    .string()
    .optional()
    .describe(
      '`production`: requests take less processor time, GraphiQL is not served, and links cannot pass the demo key to a page; `test`: FAILPOINT and HASH_MEMORY_KIB are read',
    ),
  FAILPOINT: z.string().optional().describe('Tests only: name=kill, name=throw or name=sleep at a named commit boundary'),
  HASH_MEMORY_KIB: z.coerce.number().int().min(8).optional().describe('Tests only: memory of a password hash, in KiB'),
})
