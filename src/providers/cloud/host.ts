// The gateway's side of this provider, in a process whose background work has started.
import type { App } from '../../core/app.ts'
import { definePart } from '../../core/part.ts'
import type { ProviderHost } from '../provider.ts'
import type { KnownCloudInstance } from './settings.ts'

const part = definePart<{ host?: ProviderHost<KnownCloudInstance> }>(() => ({}))

export function keepHost(app: App, host: ProviderHost<KnownCloudInstance>): void {
  part(app).host = host
}

/** @throws Error in a process without background work, which sends and connects nothing. */
export function cloudHost(app: App): ProviderHost<KnownCloudInstance> {
  const { host } = part(app)
  if (!host) throw new Error('the provider was not started in this process')
  return host
}
