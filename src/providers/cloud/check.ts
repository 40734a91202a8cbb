// Asks Meta about a number, for the operator.
import type { App } from '../../core/app.ts'
import { callbackUrlOf } from './callback.ts'
import { graph } from './graph.ts'
import { isUnregistered, readNumber, standingOf, unknownAccount, unknownNumber, wordsFor } from './number.ts'
import { isWrongProof, proofOf, wrongAppSecret } from './proof.ts'
import { type CloudSettings, secretsOf } from './settings.ts'
import { objectsIn } from './values.ts'

/** @throws a sentence when Meta cannot be reached, refuses the token, or restricts the number. */
export async function checkNumber(app: App, settings: CloudSettings): Promise<string> {
  const answer = await readNumber(app, settings)
  if (answer.is !== 'done') throw new Error(wordsFor(answer, secretsOf(settings), unknownNumber))
  if (isUnregistered(answer.body)) throw new Error('the number is not registered at Meta: give its pin')
  const { error, meta } = standingOf(answer.body)
  if (error) throw new Error(error)
  const known = [
    ['quality', meta?.qualityRating],
    ['messaging limit', meta?.messagingLimit],
    ['can send', meta?.canSendMessage],
  ]
  const words = known.flatMap(([name, value]) => (value ? [`${name} ${value}`] : []))
  const said = ['Meta knows the number and takes the token', ...words].join(', ')
  const fault = await faultOfWebhooks(app, settings)
  if (fault) throw new Error(`${said}; but ${fault}`)
  return said
}

/** In words; undefined if the webhooks are as they should be, or nobody can tell, as for an address that was set by hand at the app. */
async function faultOfWebhooks(app: App, settings: CloudSettings): Promise<string | undefined> {
  const { businessAccountId, accessToken, appSecret } = settings
  const ours = callbackUrlOf(app.config, '')
  if (ours === undefined) return undefined
  const query = proofOf(accessToken, appSecret)
  const answer = await graph(app).call({ method: 'GET', path: `${businessAccountId}/subscribed_apps`, query, accessToken })
  if (isWrongProof(answer)) return `${wrongAppSecret}: Meta's webhooks are refused`
  if (answer.is !== 'done')
    return `it does not say which apps get its webhooks: ${wordsFor(answer, secretsOf(settings), unknownAccount)}`
  const apps = objectsIn(answer.body.data)
  if (apps.length === 0) return 'no app is subscribed to the webhooks of its business account: connect the instance again'
  const addresses = apps.map(({ override_callback_uri: address }) => address)
  // The override belongs to the whole account, so it may name another instance of ours.
  const isElsewhere = addresses.every((address) => typeof address === 'string' && !address.startsWith(ours))
  return isElsewhere ? 'the webhooks of its business account go to another server: connect the instance again' : undefined
}
