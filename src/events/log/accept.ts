// Decides from the Accept header if a request wants a server-sent event stream.

/** True when `text/event-stream` ranks above every `application` type and the wildcard: by q weight, then by order in the header. */
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
