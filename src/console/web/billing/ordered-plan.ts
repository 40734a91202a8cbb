// Remembers in this tab which plan was ordered, until its reader comes back from the payment page.

const name = 'gateway.ordered'

export function awaitPlan(code: string): void {
  sessionStorage.setItem(name, code)
}

/** Null if nothing was ordered in this tab. */
export function awaitedPlan(): string | null {
  return sessionStorage.getItem(name)
}

export function planArrived(): void {
  sessionStorage.removeItem(name)
}
