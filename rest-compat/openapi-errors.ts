// Which errors a route can answer with, and how the document tells them.
import { type ErrorCode, errors } from '../src/core/errors.ts'
import type { Route } from './route.ts'

type Told = Pick<Route, 'method' | 'path' | 'reach'> & Partial<Pick<Route, 'query' | 'errors'>> & { refuse?: ErrorCode }

/** Every code of the table, in its order, that a route can answer with; `own` are those of its verb. */
export function errorsOf(route: Told, own: readonly ErrorCode[]): ErrorCode[] {
  const { method, path, reach, query, refuse } = route
  const codes = new Set<ErrorCode>([
    ...everywhere,
    ...(reach === 'workspace' ? (['TEAM_KEY_REQUIRED'] as const) : []),
    ...(reach === 'personal' ? (['TEAM_KEY_NOT_ALLOWED'] as const) : []),
    // It refuses before it looks at anything else.
    ...(refuse ? [refuse] : [...own, ...(route.errors ?? []), ...ofRequest(method, path, query !== undefined)]),
  ])
  return inOrder([...codes])
}

const everywhere = [
  'UNAUTHORIZED',
  'API_RATE_LIMIT_EXCEEDED',
  'MONTHLY_API_REQUEST_QUOTA_EXCEEDED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const

function ofRequest(method: string, path: string, hasQuery: boolean): ErrorCode[] {
  return [
    ...(path.includes(':') ? (['VALIDATION_ERROR', 'NOT_FOUND'] as const) : []),
    ...(hasQuery ? (['VALIDATION_ERROR'] as const) : []),
    ...(method === 'GET' ? [] : (['VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
    ...(method === 'POST' ? (['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'] as const) : []),
  ]
}

function inOrder(codes: ErrorCode[]): ErrorCode[] {
  return (Object.keys(errors) as ErrorCode[]).filter((code) => codes.includes(code))
}

/** The answers of these codes by HTTP status, as references to `responses`, which gets those it does not have. */
export function errorResponses(
  codes: readonly ErrorCode[],
  responses: Record<string, unknown>,
): Record<string, { $ref: string }> {
  const byStatus = Map.groupBy(codes, (code) => errors[code].status)
  const entries = [...byStatus].map(([status, group]) => {
    const name = group.join('.')
    responses[name] ??= responseOf(status, group)
    return [String(status), { $ref: `#/components/responses/${name}` }]
  })
  return Object.fromEntries(entries)
}

function responseOf(status: number, codes: readonly ErrorCode[]): unknown {
  const retry = status === 429 || status === 503 || codes.includes('IDEMPOTENCY_IN_PROGRESS')
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].message}.`).join('\n\n'),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      ...(retry && { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }),
    },
    content: {
      'application/json': {
        schema: errorSchema(codes),
        examples: Object.fromEntries(codes.map((code) => [code, { value: { error: { code, message: exampleOf(code) } } }])),
      },
    },
  }
}

function errorSchema(codes: readonly ErrorCode[]): unknown {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        description: 'What is wrong.',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: codes, description: 'What is wrong, for programs.' },
          message: { type: 'string', description: 'What is wrong, for people.' },
        },
      },
    },
  }
}

function exampleOf(code: ErrorCode): string {
  if (code === 'VALIDATION_ERROR') return 'to: must be an E.164 number, for example +393331234567; buttons.0.id: is required'
  return errors[code].message
}
