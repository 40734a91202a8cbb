// Whether a request wants a stream: its Accept header, read by weight and, between equals, by order.

/** True when `text/event-stream` comes before every JSON type that a client also takes. */
export function prefersStream(accept: string | undefined): boolean {
  if (!accept?.toLowerCase().includes('text/event-stream')) return false
  const ranges = accept.split(',').map((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    return { type, weight: q === undefined ? 1 : Number(q) || 0 }
  })
  const wanted = ranges.filter((range) => range.weight > 0 && /^(text\/event-stream|application\/.*|\*\/\*)$/.test(range.type))
  return wanted.sort((a, b) => b.weight - a.weight)[0]?.type === 'text/event-stream'
}
