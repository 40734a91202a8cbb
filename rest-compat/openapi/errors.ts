// Determines the error codes of a route, and describes them in the OpenAPI document.
import { type ErrorCode, errors } from '../../src/core/errors.ts'
import type { Route } from '../route.ts'
import { headerRefs, refusalHeaders, type SurfaceRules } from './surface.ts'

type RouteFacts = Pick<Route, 'method' | 'path' | 'scope'> &
  Partial<Pick<Route, 'ofTeam' | 'query' | 'errors'>> & { refuse?: ErrorCode }

/** The error codes of a route, in the order of the error table. `own` are the codes of its GraphQL operation. */
export function errorsOf(rules: SurfaceRules, route: RouteFacts, own: readonly ErrorCode[]): ErrorCode[] {
  const { method, path, query, refuse } = route
  const impossible = rules.impossible(route)
  const codes = [
    ...rules.refusals(route),
    // Such a route refuses before any other check.
    ...(refuse ? [refuse] : [...own, ...(route.errors ?? []), ...ofRequest(method, path, query !== undefined)]),
  ]
  return inOrder(codes.filter((code) => !impossible.includes(code)))
}

function ofRequest(method: string, path: string, hasQuery: boolean): ErrorCode[] {
  return [
    // A team id is not validated: a malformed one is an unknown team.
    ...(path.replace(':teamId', '').includes(':') ? (['VALIDATION_ERROR', 'NOT_FOUND'] as const) : []),
    ...(hasQuery ? (['VALIDATION_ERROR'] as const) : []),
    ...(method === 'GET' ? [] : ofBody),
    ...(method === 'POST' ? (['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED'] as const) : []),
  ]
}

/** Errors of any request body. They also apply to routes that expect no body. */
export const ofBody = ['VALIDATION_ERROR', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const

/** Removes duplicates and sorts by the error table. */
export function inOrder(codes: readonly ErrorCode[]): ErrorCode[] {
  return (Object.keys(errors) as ErrorCode[]).filter((code) => codes.includes(code))
}

/** The parts of the document's components that an error response is made of and added to. */
interface ErrorComponents {
  rules: SurfaceRules
  responses: Record<string, unknown>
}

/**
 * The answers to these codes by HTTP status, as references to `responses`. Adds missing entries to `responses`. `repeatable`: the route takes
 * an `Idempotency-Key`.
 */
export function errorResponses(
  codes: readonly ErrorCode[],
  { rules, responses }: ErrorComponents,
  repeatable = false,
): Record<string, { $ref: string }> {
  const byStatus = Map.groupBy(codes, (code) => errors[code].status)
  const entries = [...byStatus].map(([status, group]) => {
    const headers = refusalHeaders(rules, status, repeatable)
    const name = [...group, ...(headers.includes('Idempotency-Replayed') ? ['repeatable'] : [])].join('.')
    responses[name] ??= responseOf(status, group, headers, rules)
    return [String(status), { $ref: `#/components/responses/${name}` }]
  })
  return Object.fromEntries(entries)
}

function responseOf(
  status: number,
  codes: readonly ErrorCode[],
  headers: readonly string[],
  { messages }: SurfaceRules,
): unknown {
  const retry = status === 429 || status === 503 || codes.includes('IDEMPOTENCY_IN_PROGRESS')
  const messageOf = (code: ErrorCode) => messages[code] ?? errors[code].message
  const examples = codes.map((code) => [code, { value: { error: { code, message: exampleOf(code) ?? messageOf(code) } } }])
  return {
    description: codes.map((code) => `\`${code}\`: ${messageOf(code)}.`).join('\n\n'),
    headers: headerRefs([...headers, ...(retry ? ['Retry-After'] : [])]),
    content: { 'application/json': { schema: errorSchema(codes), examples: Object.fromEntries(examples) } },
  }
}

function errorSchema(codes: readonly ErrorCode[]): unknown {
  return {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        description: 'The error.',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: codes, description: 'The error code, for programs.' },
          message: { type: 'string', description: 'The error message, for people.' },
        },
      },
    },
  }
}

/** An example, for codes whose message describes the specific request. */
function exampleOf(code: ErrorCode): string | undefined {
  if (code !== 'VALIDATION_ERROR') return undefined
  return 'to: must be an E.164 number, for example +393331234567; buttons.0.id: is required'
}
