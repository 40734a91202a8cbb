// Files of inbound messages: asks the Graph API for the address of a file, and reads it there with the access token.
import type { App } from '../../core/app.ts'
import type { FetchedMedia } from '../provider.ts'
import type { InboundMedia } from '../reports.ts'
import { reasonOf, verdictOf } from './errors.ts'
import { type GraphAnswer, graph } from './graph.ts'
import { textOf } from './hook-values.ts'
import type { CloudInstance } from './settings.ts'

/** Meta's own servers of files. */
const ownHosts = /\.(fbsbx\.com|facebook\.com|whatsapp\.net)$/

export async function fetchMedia(
  app: App,
  { settings }: CloudInstance,
  { reference }: InboundMedia,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const { accessToken, phoneNumberId } = settings
  const path = encodeURIComponent(reference)
  const answer = await graph(app).call({ method: 'GET', path, query: { phone_number_id: phoneNumberId }, accessToken })
  if (answer.is !== 'done') return faultOf(answer, [accessToken])
  const url = textOf(answer.body.url) ?? ''
  if (!mayHaveToken(app, url)) return { outcome: 'refused', detail: 'the file is on a server that is not of the network' }
  const { origin, pathname, search } = new URL(url)
  const headers = { authorization: `Bearer ${accessToken}` }
  const request = { origin, path: pathname + search, method: 'GET', headers, signal } as const
  const response = await graph(app)
    .agent.request(request)
    .catch(() => undefined)
  if (response?.statusCode === 200) return { outcome: 'fetched', bytes: response.body as AsyncIterable<Uint8Array> }
  await response?.body.dump({ limit: 65_536, signal }).catch(() => {})
  // An address holds for five minutes, so the next try asks for another one.
  return { outcome: 'retry', detail: `the network did not give the file (${response?.statusCode ?? 'no answer'})` }
}

/** The token goes to the server of the Graph API, and by https to Meta's own. */
function mayHaveToken({ config }: App, address: string): boolean {
  const url = URL.parse(address)
  if (!url || url.username || url.password) return false
  return url.origin === new URL(config.cloud.apiUrl).origin || (url.protocol === 'https:' && ownHosts.test(`.${url.hostname}`))
}

/** A call that has not been made as asked: refused for good, or worth another try. */
export function faultOf(
  answer: Exclude<GraphAnswer, { is: 'done' }>,
  secrets: readonly string[],
): { outcome: 'refused' | 'retry'; detail: string } {
  if (answer.is !== 'error') return { outcome: 'retry', detail: 'the network did not answer' }
  const { is } = verdictOf(answer.code)
  const detail = reasonOf(answer.code, answer.words, secrets)
  return { outcome: is === 'later' || is === 'few' ? 'retry' : 'refused', detail }
}
