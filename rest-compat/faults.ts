// Completes validation errors: adds the faults that nothing found yet because the operation did not run, under the names that the REST caller used.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { codeOf, failure, invalid, issuesOf } from '../src/core/errors.ts'
import type { Route } from './route.ts'

/**
 * Adds the faults of the other query parameters to an error about some of them. Only the operation of the list finds these faults, and it has
 * not run. `errorsWith` runs it once without the faulty parameters; it only reads.
 */
export async function withOthers(
  error: Error,
  given: Record<string, unknown>,
  schema: z.ZodObject,
  errorsWith: (rest: Record<string, unknown>) => Promise<readonly Error[]>,
): Promise<Error> {
  if (codeOf(error) !== 'VALIDATION_ERROR') return error
  const issues = issuesOf(error) ?? []
  const faulty = new Set(issues.map(({ path }) => path.split('.', 1)[0]))
  const rest = schema.safeParse(Object.fromEntries(Object.entries(given).filter(([name]) => !faulty.has(name))))
  const [other] = rest.success ? await errorsWith(rest.data) : []
  return codeOf(other) === 'VALIDATION_ERROR' ? invalid([...issues, ...(issuesOf(other as Error) ?? [])]) : error
}

/** Adds the malformed ids of the path to an error about the query or the body. The graph, which checks ids, does not see such a request. */
export function withIds(error: Error, { ofTeam }: Route, { params }: FastifyRequest): Error {
  if (codeOf(error) !== 'VALIDATION_ERROR') return error
  const ids = Object.entries(params as Record<string, string>).filter(([name]) => name !== ofTeam && /^(id|\w+Id)$/.test(name))
  const faults = ids.flatMap(([path, id]) => (z.guid().safeParse(id).success ? [] : [{ path, message: 'must be a UUID' }]))
  if (faults.length === 0) return error
  const message = [...faults.map(({ path, message }) => `${path}: ${message}`), error.message].join('; ')
  return failure('VALIDATION_ERROR', message, [...faults, ...(issuesOf(error) ?? [])])
}

/** Renames arguments in a validation error to the names that the REST caller used. */
export function renamed(error: Error, { renames }: Route): Error {
  if (codeOf(error) !== 'VALIDATION_ERROR') return error
  const names: Record<string, string> = { input: 'body', ...renames }
  const message = error.message.replace(
    /(^|; )([A-Za-z]+):/g,
    (_, before: string, name: string) => `${before}${names[name] ?? name}:`,
  )
  const issues = issuesOf(error)?.map(({ path, message }) => ({ path: names[path] ?? path, message }))
  return failure('VALIDATION_ERROR', message, issues)
}
