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

/** {@link load} for a batch that finds some of the ids; `missing` is the result for the others. */
export function loadFound<T, Missing>(
  ctx: Context,
  name: string,
  id: string,
  missing: Missing,
  find: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<T | Missing> {
  return load<T | Missing>(ctx, name, id, async (ids) => {
    const found = await find(ids)
    return ids.map((one) => found.get(one) ?? missing)
  })
}
