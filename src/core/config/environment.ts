// Schema of every environment variable: format, default and description.
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { isProxy, proxyNames, type TrustProxy } from '../network/proxy.ts'
// Imported for its side effect: it sets the messages of zod, which every reader of the configuration needs.
import '../validation.ts'

const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback)
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
    `must be the number of proxies in front (1, 2, …), or their addresses, CIDRs and names (${proxyNames.join(', ')}), comma-separated; 0 for none`,
  )
  .transform((parts): TrustProxy => (/^\d+$/.test(parts.join()) ? Number(parts[0]) || false : parts))

/** A URL with one of these schemes. */
const url = (...schemes: string[]) =>
  z.url({
    protocol: new RegExp(`^(${schemes.join('|')})$`),
    error: `must be a valid address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  })

/** A base URL, without its trailing slash. */
const base = url('http', 'https').transform((url) => url.replace(/\/+$/, ''))

/** Every variable that the gateway reads. `gateway config` prints the descriptions. */
export const environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65535).default(4000).describe('Port to listen on; 0 takes any free one and prints it'),
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on'),
  PUBLIC_URL: base
    .optional()
    .describe(
      'Address that others reach this server by, where it differs from the one listened on; pages of that origin may call it',
    ),
  DATA_DIR: z
    .string()
    .min(1)
    .default('.data')
    .describe('Folder of the embedded database, of the secret key and of uploaded files'),
  DATABASE_URL: url('postgres', 'postgresql')
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
      'Encrypts webhook secrets, provider credentials and the keys of sign-in at rest, and seals cursors of events, 32 bytes in hex; made and kept in DATA_DIR with the embedded database, required with DATABASE_URL',
    ),
  MEDIA_STORE: z
    .enum(['disk', 's3'])
    .default('disk')
    .describe('Where uploaded files are kept: `disk` is DATA_DIR/media, `s3` a bucket that speaks S3'),
  S3_BUCKET: z.string().min(1).optional().describe('The bucket of MEDIA_STORE=s3'),
  S3_ENDPOINT: url('http', 'https')
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
  PERSON_RATE_LIMIT_PER_SECOND: positive(50).describe(
    'Requests that one person who is signed in may make in any one second, over all sessions',
  ),
  TRUST_PROXY: proxies
    .default(false)
    .describe(
      'Proxies in front that write X-Forwarded-For: how many (`1` where one is, and nobody reaches the gateway past it), or their addresses and CIDRs, `loopback`, `linklocal`, `uniquelocal`, comma-separated. The client is the rightmost address that is none of them',
    ),
  CONSOLE_URL: base.optional().describe('Address of the console, where links in mails and sign-ins lead; without it PUBLIC_URL'),
  SMTP_URL: url('smtp', 'smtps')
    .optional()
    .describe('Mail server, with its user and password; without it mail is written to DATA_DIR/mail'),
  MAIL_FROM: z.string().min(3).default('Messaging gateway <gateway@localhost>').describe('Sender of mail'),
  OIDC_PROVIDER: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9 and -')
    .default('sso')
    .describe('Name of the identity provider in addresses: /api/auth/oauth/NAME'),
  OIDC_DISCOVERY_URL: url('http', 'https')
    .optional()
    .describe("The identity provider's discovery document (`…/.well-known/openid-configuration`)"),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('What the identity provider calls this gateway'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('Its secret there'),
  OIDC_SCOPES: list
    .pipe(z.array(z.string()).min(1))
    .default(['openid', 'email', 'profile'])
    .describe('What is asked of it; comma-separated'),
  STRIPE_SECRET_KEY: z.string().min(1).optional().describe('Takes payments through Stripe; without it an operator confirms them'),
  STRIPE_WEBHOOK_SECRET: z.string().min(1).optional().describe('Of the endpoint /api/billing/stripe/webhook at Stripe'),
  STRIPE_PRICE_PRO: z.string().min(1).optional().describe("Id of the Pro plan's monthly price at Stripe"),
  STRIPE_PRICE_MAX: z.string().min(1).optional().describe("Id of the MAX plan's monthly price at Stripe"),
  STRIPE_API_URL: url('http', 'https').optional().describe("Another address of Stripe's API, for tests"),
  SANDBOX_LATENCY_MS: z.coerce.number().int().min(0).default(200).describe('Time that each step takes on the sandbox network'),
  SANDBOX_SEED: z.coerce.number().int().default(1).describe('Seed of what the sandbox network makes up'),
  METRICS_TOKEN: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Bearer token of /metrics, asked of everybody; without it they are read on this machine alone, and through no proxy',
    ),
  DEMO: flag.optional().describe('1 makes a demo account on an empty database; on by default with the embedded one'),
  NODE_ENV: z
    .string()
    .optional()
    .describe('`production`: GraphiQL is not served, and no link gives the key of the demo to a page; `test`: FAILPOINT is read'),
  FAILPOINT: z.string().optional().describe('Tests only: name=kill, name=throw or name=sleep at a named commit boundary'),
})
