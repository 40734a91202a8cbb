// All providers of this build by name.
import type { App } from '../core/app.ts'
import { definePart } from '../core/part.ts'
import { cloud } from './cloud/cloud.ts'
import type { OpenProvider } from './define-provider.ts'
import type { Provider, ProviderName, Providers } from './provider.ts'
import { sandbox } from './sandbox/sandbox.ts'
import { web } from './web/web.ts'

const definitions = [sandbox, cloud, web]

export const providers = definePart<Providers>((app) => openProviders(app, definitions))

export function openProviders(app: App, definitions: readonly OpenProvider[]): Providers {
  return new Map(definitions.map((open) => open(app)).map((provider) => [provider.name, provider]))
}

/** Returns the provider of an instance, or undefined if this build does not have it. */
export function providerOf(app: App, name: ProviderName): Provider | undefined {
  return providers(app).get(name)
}

/** True if the network of an instance sends templates that it approved. */
export function sendsTemplates(app: App, name: ProviderName): boolean {
  return providerOf(app, name)?.approvedTemplates !== undefined
}
