// Process-wide parts of a domain, such as batchers, caches and connections: one per App, created on first use.
import type { App } from './app.ts'

export interface Part<T> {
  /** Returns the part of this App. The first call creates it. */
  (app: App): T
  /** Sets the part of this App, for tests. */
  replace: (app: App, part: T) => void
}

/** Defines a part. `create` runs once per App, so two Apps in one process share nothing. */
export function definePart<T>(create: (app: App) => T): Part<T> {
  const parts = new WeakMap<App, { part: T }>()
  const replace = (app: App, part: T) => {
    parts.set(app, { part })
    return part
  }
  return Object.assign((app: App): T => (parts.get(app) ?? { part: replace(app, create(app)) }).part, { replace })
}
