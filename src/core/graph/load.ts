// One statement for all that a request asks the same of, however many rows it asks it of.
import DataLoader from 'dataloader'
import type { Context } from '../context.ts'

const loaders = new WeakMap<Context, Map<string, DataLoader<string, unknown>>>()

/** What `batch` answers for `id`, asked together with what else this request loads by that `name` at the moment. */
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
