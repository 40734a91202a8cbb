// Loads the chunks of the console, over restarts and upgrades of the gateway.
import { lazyRouteComponent } from '@tanstack/react-router'

/** Soon enough that a reader sees the page within 2 s of the gateway's return. */
const againMs = 1_000

/** Chunks of pages that are being loaded. */
let loading = 0

/**
 * An upgrade of the gateway gives chunks other names. Loading the page again finds them; once a minute, should they be missing. While the
 * gateway does not answer, the page stays: the browser would replace it by one about the connection, which never ends by itself.
 */
export function reloadForNewChunks(): void {
  window.addEventListener('vite:preloadError', async () => {
    // The chunk of a page is asked for again first.
    if (loading > 0) return
    const last = Number(sessionStorage.getItem('gateway.reloaded') ?? 0)
    if (Date.now() - last < 60_000 || !(await pageAnswers())) return
    sessionStorage.setItem('gateway.reloaded', String(Date.now()))
    location.reload()
  })
}

/** True if the gateway gives out this page now. */
async function pageAnswers(): Promise<boolean> {
  return (await fetch(location.href).catch(() => null))?.ok ?? false
}

/**
 * Loads the chunk of a page. While the gateway does not answer, the page that is open stays, and the next one comes when it is back. The
 * router loads the whole page again if the chunk is missing then.
 */
export function pageChunk<Module extends Record<string, unknown>>(load: () => Promise<Module>, name: keyof Module & string) {
  return lazyRouteComponent(async () => {
    loading++
    return await loadPatiently(load).finally(() => loading--)
  }, name)
}

/** Fails once the load fails twice although the gateway answers: it may have come back after the first failure. */
async function loadPatiently<Module>(load: () => Promise<Module>): Promise<Module> {
  for (let answered = false; ; ) {
    try {
      return await load()
    } catch (error) {
      const answers = await pageAnswers()
      if (answers && answered) throw error
      answered = answers
      await new Promise((resolve) => setTimeout(resolve, againMs))
    }
  }
}
