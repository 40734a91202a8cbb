// The preferences that this browser stores: theme, time zone and language. Nothing here is secret.

const names = { theme: 'gateway.theme', zone: 'gateway.zone', language: 'gateway.language', known: 'gateway.known' } as const

/** Returns null if it is not set, or if the browser forbids storage. */
export function preference(name: keyof typeof names): string | null {
  try {
    return localStorage.getItem(names[name])
  } catch {
    return null
  }
}

/** Null removes it. */
export function prefer(name: keyof typeof names, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(names[name])
    else localStorage.setItem(names[name], value)
  } catch {
    // It then lasts as long as the page.
  }
}

export const themes = ['auto', 'light', 'dark'] as const

export function applyTheme(theme: string): void {
  prefer('theme', theme === 'auto' ? null : theme)
  document.documentElement.dataset.theme = theme
}

let zone: string | undefined

/** The time zone of all times on screen, an IANA name. Read once (it takes 0.1 ms); a change of zone loads the page again. */
export function shownZone(): string {
  zone ??= preference('zone') ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  return zone
}
