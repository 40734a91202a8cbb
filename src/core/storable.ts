// The texts that PostgreSQL can store.

/** PostgreSQL stores neither the character 0 nor half of a surrogate pair. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
