// Loads the client of WhatsApp Web on first use: the package is optional, and costs 60 MB of memory.
import { createRequire } from 'node:module'
import type * as Baileys from 'baileys'
import type { App } from '../../core/app.ts'
import { rememberSignatures } from './certificates.ts'
import { muteSignalKeys } from './mute-console.ts'
import { survivePackageFaults } from './package-faults.ts'
import { undoFailedTrials } from './session-trials.ts'

export type WhatsApp = typeof Baileys

let loading: Promise<WhatsApp> | undefined

/** True if the package is there. It is not loaded. */
export function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('baileys')
    return true
  } catch {
    return false
  }
}

async function load(): Promise<WhatsApp> {
  const whatsApp = await import('baileys')
  rememberSignatures(whatsApp.Curve)
  undoFailedTrials()
  return whatsApp
}

/** Loads the package once for the process, and sets the key that the network's certificates must chain to. */
export async function loadWhatsApp({ config, log }: Pick<App, 'config' | 'log'>): Promise<WhatsApp> {
  loading ??= load()
  const whatsApp = await loading
  muteSignalKeys()
  survivePackageFaults(log)
  if (config.web.rootKey) Object.assign(whatsApp.WA_CERT_DETAILS, { PUBLIC_KEY: config.web.rootKey })
  return whatsApp
}

/** The package logs contacts and stanzas, so nothing of its log is written. */
export const silent: NonNullable<Parameters<WhatsApp['makeCacheableSignalKeyStore']>[1]> = {
  level: 'silent',
  child: () => silent,
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
}
