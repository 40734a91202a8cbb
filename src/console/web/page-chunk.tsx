// Loads the chunks of the console, over restarts and upgrades of the gateway.
import { lazyRouteComponent } from '@tanstack/react-router'
import { type ComponentType, useEffect, useState } from 'react'
import { Broken } from './shell/broken.tsx'

/** Soon enough that a reader sees the page within 2 s of the gateway's return. */
const againMs = 1_000

/** Chunks of pages that are being loaded. */
let loading = 0

/** Loads the page again if another chunk than that of a page is missing. */
export function reloadForNewChunks(): void {
  window.addEventListener('vite:preloadError', async () => {
    // `pageChunk` decides for pages.
    if (loading === 0 && (await gatewayAnswers())) reload()
  })
}

/**
 * Loads the page again, which finds the chunks of an upgraded gateway; only once a minute, should they be missing. Call it while the
 * gateway answers: the browser would replace the page by one about the connection, which never ends by itself. Returns false if the page
 * was loaded less than a minute ago.
 */
function reload(): boolean {
  const last = Number(sessionStorage.getItem('gateway.reloaded') ?? 0)
  if (Date.now() - last < 60_000) return false
  sessionStorage.setItem('gateway.reloaded', String(Date.now()))
  location.reload()
  return true
}

/** True if the gateway gives out this page now. */
async function gatewayAnswers(): Promise<boolean> {
  return (await fetch(location.href).catch(() => null))?.ok ?? false
}

/**
 * Loads the chunk of a page. While the gateway does not answer, the page that is open stays, and the next one comes when it is back. If the
 * chunk is missing then, the whole page is loaded again once the reader gets there; a link that is only pointed at does nothing.
 */
export function pageChunk<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  return lazyRouteComponent(async () => {
    loading++
    return { default: await loadPatiently(async () => (await load())[name]).finally(() => loading--) }
  })
}

async function loadPatiently(load: () => Promise<ComponentType>): Promise<ComponentType> {
  try {
    return await load()
  } catch {
    while (!(await gatewayAnswers())) await new Promise((resolve) => setTimeout(resolve, againMs))
    // Chromium keeps the failure of a module as long as the page is open; other browsers ask again.
    return await load().catch((error) => () => <LoadAgain error={error} />)
  }
}

/** Stands for a page whose chunk is missing. */
function LoadAgain({ error }: { error: unknown }) {
  const [isBroken, setBroken] = useState(false)
  useEffect(() => setBroken(!reload()), [])
  return isBroken && <Broken error={error} />
}
