// Says the warnings of the gateway about the safety of an instance in the language of the browser.
import { count } from '../words/words.ts'
import { text } from './words.ts'

/** The warnings of the gateway name a limit and two numbers; others are shown as they are. */
export function warningIn(warning: string): string {
  const [, cap = '', n, most] = warning.match(/^(\w+) exceeded: (\d+) of (\d+)$/) ?? []
  if (n && most) return text.caps[cap]?.(count(Number(n)), count(Number(most))) ?? warning
  return warning.startsWith('maxColdRatio') ? text.cold : warning
}
