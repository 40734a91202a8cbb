// All providers of this build by name.

import type { App } from '../core/app.ts'
import { definePart } from '../core/part.ts'
import type { Provider, ProviderName, Providers } from './provider.ts'
import { createSandbox } from './sandbox/sandbox.ts'

export const providers = definePart<Providers>((app) => new Map([['sandbox', createSandbox(app)]]))

/** Returns the provider of an instance, or undefined if this build does not have it. */
export function providerOf(app: App, name: ProviderName): Provider | undefined {
  return providers(app).get(name)
}
