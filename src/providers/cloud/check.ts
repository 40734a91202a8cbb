// Asks Meta about a number, for the operator.
import type { App } from '../../core/app.ts'
import { isUnregistered, readNumber, standingOf, wordsFor } from './number.ts'
import type { CloudSettings } from './settings.ts'

/** @throws a sentence when Meta cannot be reached, refuses the token, or restricts the number. */
export async function checkNumber(app: App, settings: CloudSettings): Promise<string> {
  const { accessToken, appSecret, verifyToken, pin } = settings
  const answer = await readNumber(app, settings)
  if (answer.is !== 'done') throw new Error(wordsFor(answer, [accessToken, appSecret, verifyToken, pin]))
  if (isUnregistered(answer.body)) throw new Error('the number is not registered at Meta: give its pin')
  const { error, meta } = standingOf(answer.body)
  if (error) throw new Error(error)
  const known = [
    ['quality', meta?.qualityRating],
    ['messaging limit', meta?.messagingLimit],
    ['can send', meta?.canSendMessage],
  ]
  const words = known.flatMap(([name, value]) => (value ? [`${name} ${value}`] : []))
  return ['Meta knows the number and takes the token', ...words].join(', ')
}
