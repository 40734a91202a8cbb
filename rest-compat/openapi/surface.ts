// The differences between the OpenAPI documents of the two surfaces: prefix, authentication, error codes.
import type { ErrorCode } from '../../src/core/errors.ts'
import type { Route, Surface } from '../route.ts'

/** The parts of a route that its surface depends on. */
export type Entry = Pick<Route, 'scope'> & Partial<Pick<Route, 'ofTeam'>> & { refuse?: ErrorCode }

/** A security requirement of OpenAPI: the names of the security schemes that a request needs together. */
type SecurityRequirement = Partial<Record<string, never[]>>

export interface SurfaceRules {
  prefix: string
  title: string
  summary: string
  /** The security schemes by name. The name of the session cookie depends on the public URL: `__Secure-` with https. */
  schemes: (publicUrl: string | undefined) => Record<string, unknown>
  /** Description of the header that names a team. */
  teamHeader: string
  /** True if the route reads that header. */
  takesTeam: (entry: Entry) => boolean
  /**
   * The security requirements, of which a request needs one. They leave the team header out, because generated clients send their one key for each
   * scheme that `security` names.
   */
  security: SecurityRequirement[]
  /** Error codes of authentication, authorization and rate limiting for a route, before its own checks. */
  refusals: (entry: Entry) => readonly ErrorCode[]
  /** Error codes that the GraphQL field lists, but that cannot occur on this surface. */
  impossible: (entry: Entry) => readonly ErrorCode[]
  /** Messages that differ from those of the error table. */
  messages: Partial<Record<ErrorCode, string>>
  /** `headers` are on every answer to a known caller, `otherHeaders` on some. */
  headers: readonly string[]
  otherHeaders: readonly string[]
}

export function headerRefs(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** The headers of a refusal with this status. `repeatable`: of a route that takes an `Idempotency-Key`. */
export function refusalHeaders({ headers }: SurfaceRules, status: number, repeatable: boolean): string[] {
  // Without a valid credential, neither a rate limit nor an idempotency key applies.
  if (status === 401) return ['X-Request-Id', 'WWW-Authenticate']
  // These refusals are kept for repeated requests.
  return [...headers, ...(repeatable && [400, 403, 404, 409].includes(status) ? ['Idempotency-Replayed'] : [])]
}

const ofEveryRoute = ['UNAUTHORIZED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'] as const

const publicRules: SurfaceRules = {
  prefix: '/api/v1',
  title: 'Messaging gateway',
  summary: 'Send and receive messages through connected phone accounts.',
  schemes: () => ({
    ApiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'x-api-key',
      description: 'A personal key begins with `svc_live_`, a team key with `svc_team_`.',
    },
  }),
  teamHeader: 'The id of the team of a team key. Other keys must not send it.',
  // Personal routes accept personal keys only.
  takesTeam: ({ scope }) => scope !== 'personal',
  security: [{ ApiKey: [] }],
  refusals: ({ scope, refuse }) => [
    ...ofEveryRoute,
    // For keys with the access `send` or `read`, and for keys that exceed the plan.
    ...(refuse ? [] : (['FORBIDDEN'] as const)),
    'MAX_API_KEYS_REACHED',
    'API_RATE_LIMIT_EXCEEDED',
    'MONTHLY_API_REQUEST_QUOTA_EXCEEDED',
    ...(scope === 'workspace' ? (['TEAM_KEY_REQUIRED'] as const) : []),
    ...(scope === 'personal' ? (['TEAM_KEY_NOT_ALLOWED'] as const) : []),
  ],
  // A code of team roles. A personal key belongs to the owner of its account, so it cannot occur.
  impossible: ({ scope }) => (scope === 'personal' ? ['BILLING_PAYMENTS_TEAM_OWNER_ONLY'] : []),
  messages: {},
  headers: ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
  otherHeaders: ['Retry-After', 'Idempotency-Replayed', 'WWW-Authenticate'],
}

const consoleRules: SurfaceRules = {
  prefix: '/api',
  title: 'Messaging gateway console',
  summary: 'Everything that keys can do, for signed-in users, and the management of their teams, keys, plan and sessions.',
  schemes: (publicUrl) => ({
    AccessToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The `accessToken` of `POST /auth/login` or `POST /auth/token`. It is valid for ten minutes, but no longer than its session.',
    },
    Session: {
      type: 'apiKey',
      in: 'cookie',
      name: `${publicUrl?.startsWith('https:') ? '__Secure-' : ''}gateway.session_token`,
      description: 'The session cookie, which sign-in sets for 30 days. It is valid only to get access tokens and to sign out.',
    },
  }),
  teamHeader: 'The id of one of your teams, to work in its workspace. Without this header you work in your own workspace.',
  takesTeam: namesTeam,
  security: [{ AccessToken: [] }],
  refusals: (entry) => [
    ...ofEveryRoute,
    'API_RATE_LIMIT_EXCEEDED',
    ...(namesTeam(entry) || entry.ofTeam ? (['TEAM_NOT_FOUND'] as const) : []),
  ],
  impossible: () => [],
  messages: {
    UNAUTHORIZED: 'Missing or invalid token',
    API_RATE_LIMIT_EXCEEDED: 'Too many requests of this kind; try again later',
  },
  headers: ['X-Request-Id'],
  otherHeaders: ['Retry-After', 'Idempotency-Replayed', 'WWW-Authenticate', 'Set-Cookie', 'Location'],
}

/** True if the route uses a workspace and its path names no team. */
function namesTeam({ scope, ofTeam }: Entry): boolean {
  return !ofTeam && (scope === 'workspace' || scope === 'personal')
}

export const surfaceRules: Record<Surface, SurfaceRules> = { public: publicRules, console: consoleRules }
