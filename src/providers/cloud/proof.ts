// The proof that a caller knows the app secret that belongs to an access token, which Meta checks where a call has one.
import { createHmac } from 'node:crypto'
import type { GraphAnswer } from './graph.ts'

/** The query of a call. Meta refuses the call if the secret is not that of the app that made the token. */
export function proofOf(accessToken: string, appSecret: string): { appsecret_proof: string } {
  return { appsecret_proof: createHmac('sha256', appSecret).update(accessToken).digest('hex') }
}

/** For an app secret of another app: Meta signs its webhooks with the right one, so all of them would be refused. */
export const wrongAppSecret = 'the appSecret is not that of the app that made the accessToken'

export function isWrongProof(answer: GraphAnswer): boolean {
  return answer.is === 'error' && answer.code === 100 && answer.words.startsWith('Invalid appsecret_proof')
}
