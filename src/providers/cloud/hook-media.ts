// Files of inbound messages: asks the Graph API for the address of a file, and reads it there with the access token.
import type { App } from '../../core/app.ts'
import { numberOf } from '../given-values.ts'
import type { FetchedMedia } from '../provider.ts'
import type { InboundMedia } from '../reports.ts'
import { isRefusedToken, reasonOf, verdictOn } from './errors.ts'
import { type GraphAnswer, graph } from './graph.ts'
import { type CloudInstance, secretsOf } from './settings.ts'
import { refuseToken } from './token.ts'
import { textOf } from './values.ts'

/** Meta's own servers of files. */
const ownHosts = /\.(fbsbx\.com|facebook\.com|whatsapp\.net)$/

export async function fetchMedia(
  app: App,
  instance: CloudInstance,
  { reference }: InboundMedia,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const { accessToken, phoneNumberId } = instance.settings
  const path = encodeURIComponent(reference)
  const answer = await graph(app).call({ method: 'GET', path, query: { phone_number_id: phoneNumberId }, accessToken })
  if (answer.is !== 'done') {
    const fault = await faultOf(app, instance, answer)
    // A new token may come in time for the next try.
    return fault.token ? { outcome: 'retry', detail: fault.detail } : fault
  }
  const url = textOf(answer.body.url) ?? ''
  if (!mayHaveToken(app, url)) return { outcome: 'refused', detail: 'the file is on a server that is not of the network' }
  const { origin, pathname, search } = new URL(url)
  const headers = { authorization: `Bearer ${accessToken}` }
  const request = { origin, path: pathname + search, method: 'GET', headers, signal } as const
  const response = await graph(app)
    .agent.request(request)
    .catch(() => undefined)
  if (response?.statusCode === 200) return { outcome: 'fetched', bytes: whole(response.body, numberOf(answer.body.file_size)) }
  await response?.body.dump({ limit: 65_536, signal }).catch(() => {})
  // An address holds for five minutes, so the next try asks for another one.
  return { outcome: 'retry', detail: `the network did not give the file (${response?.statusCode ?? 'no answer'})` }
}

/**
 * The bytes of a file.
 * @throws Error when they are not as many as Meta said: a server in between gave a part, or something of its own.
 */
async function* whole(bytes: AsyncIterable<Uint8Array>, size: number | undefined): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const chunk of bytes) {
    length += chunk.length
    yield chunk
  }
  if (size !== undefined && length !== size) throw new Error(`${length} of the ${size} bytes of a file came`)
}

/** The token goes to the server of the Graph API, and by https to Meta's own. */
function mayHaveToken({ config }: App, address: string): boolean {
  const url = URL.parse(address)
  if (!url || url.username || url.password) return false
  return url.origin === new URL(config.cloud.apiUrl).origin || (url.protocol === 'https:' && ownHosts.test(`.${url.hostname}`))
}

/**
 * A call that failed: permanently, or worth another try. With `token` it was the token that was refused, which
 * disconnects the instance.
 */
export async function faultOf(
  app: App,
  instance: CloudInstance,
  answer: Exclude<GraphAnswer, { is: 'done' }>,
): Promise<{ outcome: 'refused' | 'retry'; detail: string; token?: boolean }> {
  if (answer.is !== 'error') return { outcome: 'retry', detail: 'the network did not answer' }
  const detail = reasonOf(answer.code, answer.words, secretsOf(instance.settings), answer.subcode)
  const token = isRefusedToken(answer.code)
  if (token) await refuseToken(app, instance, detail)
  const { is } = verdictOn(answer)
  return { outcome: is === 'later' || is === 'few' ? 'retry' : 'refused', detail, token }
}
