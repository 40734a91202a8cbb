// What the documents of the two surfaces differ in: where each is, who comes in and how, and what refuses them.
import type { ErrorCode } from '../../src/core/errors.ts'
import type { Route, Surface } from '../route.ts'

/** A route as far as its surface is concerned. */
export type Entry = Pick<Route, 'scope'> & Partial<Pick<Route, 'ofTeam'>>

/** What somebody shows, all of it together, by the names of the schemes. */
type Way = Partial<Record<string, never[]>>

export interface SurfaceRules {
  prefix: string
  title: string
  summary: string
  /** What shows who is asking, by the names that `security` has; the session's cookie is called after where the gateway is reached. */
  schemes: (publicUrl: string | undefined) => Record<string, unknown>
  /** What the header that names a team means. */
  teamHeader: string
  /** Whether that header is looked at. */
  takesTeam: (entry: Entry) => boolean
  /** What lets somebody in, as OpenAPI has it. No team is among it: generated clients show their one key as whatever `security` names. */
  security: Way[]
  /** What can refuse whoever asks for such a route, before anybody looks at what they ask. */
  refusals: (entry: Entry) => readonly ErrorCode[]
  /** What the graph names for such a route, and nobody on this surface meets. */
  spared: (entry: Entry) => readonly ErrorCode[]
  /** What a code says here, where it is not what the table says. */
  messages: Partial<Record<ErrorCode, string>>
  /** The headers of every answer, and those of some. */
  headers: readonly string[]
  otherHeaders: readonly string[]
}

const everywhere = ['UNAUTHORIZED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'] as const

const ofKeys: SurfaceRules = {
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
  teamHeader: "The team's id. It goes with a team key, and with no other.",
  // What is personal is for personal keys alone.
  takesTeam: ({ scope }) => scope !== 'personal',
  security: [{ ApiKey: [] }],
  refusals: ({ scope }) => [
    ...everywhere,
    'API_RATE_LIMIT_EXCEEDED',
    'MONTHLY_API_REQUEST_QUOTA_EXCEEDED',
    ...(scope === 'workspace' ? (['TEAM_KEY_REQUIRED'] as const) : []),
    ...(scope === 'personal' ? (['TEAM_KEY_NOT_ALLOWED'] as const) : []),
  ],
  // Those of roles in a team: a personal key is its owner's, and no other comes there.
  spared: ({ scope }) => (scope === 'personal' ? ['FORBIDDEN', 'BILLING_PAYMENTS_TEAM_OWNER_ONLY'] : []),
  messages: {},
  headers: ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  otherHeaders: ['Retry-After', 'Idempotency-Replayed'],
}

const ofPeople: SurfaceRules = {
  prefix: '/api',
  title: 'Messaging gateway console',
  summary: 'What people do who are signed in: everything that keys do, and their teams, keys, plan and sessions.',
  schemes: (publicUrl) => ({
    AccessToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The `accessToken` of `POST /auth/login` or `POST /auth/token`. It holds for ten minutes, and no longer than its session.',
    },
    Session: {
      type: 'apiKey',
      in: 'cookie',
      name: `${publicUrl?.startsWith('https:') ? '__Secure-' : ''}gateway.session_token`,
      description: 'The cookie that signing in sets, for 30 days. It gives access tokens, and nothing else.',
    },
  }),
  teamHeader: 'The id of a team that you are in, to work in its workspace; without it you work in your own.',
  takesTeam: namesTeam,
  security: [{ AccessToken: [] }],
  refusals: (entry) => [
    ...everywhere,
    'API_RATE_LIMIT_EXCEEDED',
    ...(namesTeam(entry) || entry.ofTeam ? (['TEAM_NOT_FOUND'] as const) : []),
  ],
  spared: () => [],
  messages: {
    UNAUTHORIZED: 'Missing or invalid token',
    API_RATE_LIMIT_EXCEEDED: 'Too many of these; try again later',
  },
  headers: ['X-Request-Id'],
  otherHeaders: ['Retry-After', 'Idempotency-Replayed', 'Set-Cookie', 'Location'],
}

/** What is about a workspace, and not about a team that the path names. */
function namesTeam({ scope, ofTeam }: Entry): boolean {
  return !ofTeam && (scope === 'workspace' || scope === 'personal')
}

export const surfaceRules: Record<Surface, SurfaceRules> = { public: ofKeys, console: ofPeople }
