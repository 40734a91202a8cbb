// Sends a mutation through the cache, so that its answer shows wherever the record is on screen.
import type { Graph } from './client.ts'
import type { Document } from './request.ts'
import { apiErrorOf } from './use-read.ts'

/** @throws ApiError */
export async function change<Data, Variables extends object>(
  { client }: Graph,
  document: Document<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const { data, error } = await client.mutation<Data>(document.toString(), variables).toPromise()
  if (error) throw apiErrorOf(error)
  return data as Data
}

/** A key for an operation that must not happen twice. Plain http has no `crypto.randomUUID`. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
