// DataLoader per request: one statement for all ids that a request needs, regardless of the number of rows.
import DataLoader from 'dataloader'
import type { Context } from '../context.ts'

const loaders = new WeakMap<Context, Map<string, DataLoader<string, unknown>>>()

/** Returns the result of `batch` for `id`, in one batch with the other loads of this request under the same `name`. */
export function load<T>(
  ctx: Context,
  name: string,
  id: string,
  batch: (ids: readonly string[]) => Promise<readonly T[]>,
): Promise<T> {
  const known = loaders.get(ctx) ?? new Map<string, DataLoader<string, unknown>>()
  loaders.set(ctx, known)
  let loader = known.get(name) as DataLoader<string, T> | undefined
  if (!loader) {
    loader = new DataLoader(batch)
    known.set(name, loader)
  }
  return loader.load(id)
}
