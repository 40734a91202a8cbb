// White space as Unicode defines it, of which `String.trim` knows a part only.

const space = /^\p{White_Space}$/u

/** The text without white space around it. Linear: an expression for the end takes the square of the length of a run that stands before it. */
export function withoutSpaceAround(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && space.test(text[from] as string)) from++
  while (to > from && space.test(text[to - 1] as string)) to--
  return text.slice(from, to)
}
