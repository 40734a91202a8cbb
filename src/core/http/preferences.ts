// Reads what a client prefers and refuses, in headers such as Accept and Accept-Encoding.

/** The names in the header that the client accepts, in lower case: by their q weight, then by their order. One with the weight 0 is refused. */
export function preferencesIn(header: string | undefined): string[] {
  if (header === undefined) return []
  const ranked = header.split(',').map((part) => {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    return { name, weight: q === undefined ? 1 : Number(q) || 0 }
  })
  return ranked
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ name }) => name)
}
