// The version of WhatsApp Web that connections report. When the network refuses it as too old, its own page says which one is the newest.
import type { App } from '../../core/app.ts'
import { definePart } from '../../core/part.ts'

type Version = [number, number, number]

export interface KnownVersion {
  /** Undefined for the one that the package knows. */
  present: () => Version | undefined
  /** Learns the newest one, unless the operator chose one. Connections that ask at the same time share the request. Never rejects. */
  renew: () => Promise<void>
}

export const version = definePart(createVersion)

const timeoutMs = 10_000

function createVersion({ config, log }: App): KnownVersion {
  const { socketUrl, version: chosen } = config.web
  let found: Version | undefined
  let renewing: Promise<void> | undefined

  async function read(): Promise<void> {
    try {
      const response = await fetch(pageOf(socketUrl), {
        headers: { 'sec-fetch-site': 'none' },
        signal: AbortSignal.timeout(timeoutMs),
      })
      found = versionIn(await response.text()) ?? found
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'the newest version of WhatsApp Web could not be read')
    }
  }

  return {
    present: () => chosen ?? found,
    async renew() {
      if (chosen) return
      renewing ??= read().finally(() => {
        renewing = undefined
      })
      await renewing
    },
  }
}

/** The script of the network's own client, on the host of its socket. */
function pageOf(socketUrl = 'wss://web.whatsapp.com'): URL {
  return new URL('/sw.js', socketUrl.replace(/^ws/, 'http'))
}

/** The third part changes with each release, and the script names it alone. */
export function versionIn(script: string): Version | undefined {
  const revision = /client_revision\\?":\s*(\d{5,12})/.exec(script)?.[1]
  return revision === undefined ? undefined : [2, 3000, Number(revision)]
}
