// Keeps the focus on the page. The browser drops it where a button is disabled while it works, and where a row is removed.

/** The element with the focus; null once the reader presses something by pointer. */
let last = document.activeElement as HTMLElement | null

document.addEventListener('focusin', ({ target }) => {
  last = target as HTMLElement
})
document.addEventListener('pointerdown', () => {
  last = null
})
new MutationObserver((changes) => {
  if (!last || document.activeElement !== document.body) return
  if (!last.isConnected) focusBeside(last, changes)
  else if (!last.matches(':disabled')) last.focus({ preventScroll: true })
}).observe(document, { subtree: true, childList: true, attributeFilter: ['disabled'] })

/** The row itself gets the focus, not a button of it, which the next press of Enter would press. */
function focusBeside(removed: HTMLElement, changes: readonly MutationRecord[]): void {
  const place = placeOf(removed, changes) ?? document.querySelector<HTMLElement>('h1')
  if (!place) return
  place.tabIndex = -1
  place.focus({ preventScroll: true })
}

/** The row after the removed one, or before it. For another element: the last row above it. */
function placeOf(removed: HTMLElement, changes: readonly MutationRecord[]): HTMLElement | null {
  for (const { removedNodes, nextSibling, previousSibling } of changes) {
    const node = [...removedNodes].find((each) => each.contains(removed))
    if (!(node instanceof HTMLElement)) continue
    const beside = [nextSibling, previousSibling].filter((each) => each instanceof HTMLElement && each.isConnected)
    if (node.matches(rows)) return (beside[0] as HTMLElement | undefined) ?? null
    return [...((previousSibling as Element | null)?.querySelectorAll<HTMLElement>(rows) ?? [])].at(-1) ?? null
  }
  return null
}

const rows = 'tr, li'
