// The gateway, as this provider sees it.
import type { ProviderHost, ProviderInstance } from '../provider.ts'
import type { WebSettings } from './settings.ts'

export type Host = ProviderHost<ProviderInstance<Partial<WebSettings>>>
