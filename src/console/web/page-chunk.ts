// Loads the chunk of a page. While the gateway does not answer, the page that is open stays, and the next one comes when it is back.
import { lazyRouteComponent } from '@tanstack/react-router'

/** Soon enough that a reader sees the page within 2 s of the gateway's return. */
const againMs = 1_500

/** True if the gateway gives out this page now. */
export async function pageAnswers(): Promise<boolean> {
  return (await fetch(location.href).catch(() => null))?.ok ?? false
}

/**
 * The router itself would load the whole page again after any failure; without a gateway the browser then shows an error that never ends by
 * itself, and what was typed is lost.
 */
export function pageChunk<Module extends Record<string, unknown>>(load: () => Promise<Module>, name: keyof Module & string) {
  async function loadPatiently(): Promise<Module> {
    try {
      return await load()
    } catch (error) {
      if (await pageAnswers()) throw error
      await new Promise((resolve) => setTimeout(resolve, againMs))
      return await loadPatiently()
    }
  }
  return lazyRouteComponent(loadPatiently, name)
}
