// Query strings: an empty value, as in `?cursor=`, counts as left out.

/** The query without its empty values, except those of the parameters in `kept`. */
export function withoutEmpty(query: unknown, kept: readonly string[] = []): Record<string, unknown> {
  const given = Object.entries(query as Record<string, unknown>)
  return Object.fromEntries(given.filter(([name, value]) => value !== '' || kept.includes(name)))
}
