// Makes each file of the pages once, and keeps it in memory.

/** Returns `make` with a cache by name. A failure is not kept: the next call tries again, for example when files can be opened again. */
export function kept<Made>(make: (name: string) => Promise<Made>): (name: string) => Promise<Made> {
  const all = new Map<string, Promise<Made>>()
  return (name) => {
    const known = all.get(name)
    if (known) return known
    const made = make(name)
    all.set(name, made)
    made.catch(() => all.delete(name))
    return made
  }
}
