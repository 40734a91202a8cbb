// Answers of the loopback network to the requests (iq) of a device.
import { type BinaryNode, getAllBinaryNodeChildren, getBinaryNodeChild, getBinaryNodeChildren } from 'baileys'
import type { Phone } from './loopback-phone.ts'

/** Finds the phone of an address. */
export type KnownPhones = (jid: string) => Phone | undefined

/** The data that the answers contain. */
export interface Known {
  phoneBy: KnownPhones
  mediaHost: string | undefined
  standing: Record<string, unknown>
  addresses: ReadonlyMap<string, string>
}

/** The content of the result. Other questions are answered with an empty node of the same name. */
export function answerTo(request: BinaryNode, { phoneBy, mediaHost, standing, addresses }: Known): BinaryNode[] | undefined {
  const first = Array.isArray(request.content) ? request.content[0] : undefined
  const { xmlns } = request.attrs
  // Enough one-time keys are on the server, so that devices upload none: making hundreds costs tests a second each.
  if (xmlns === 'encrypt' && first?.tag === 'count') return [{ tag: 'count', attrs: { value: '500' } }]
  if (xmlns === 'encrypt' && first?.tag === 'key') return [{ tag: 'list', attrs: {}, content: bundles(first, phoneBy) }]
  if (xmlns === 'privacy')
    return [{ tag: 'privacy', attrs: {}, content: [{ tag: 'category', attrs: { name: 'readreceipts', value: 'all' } }] }]
  if (xmlns === 'usync')
    return [{ tag: 'usync', attrs: {}, content: [{ tag: 'list', attrs: {}, content: users(request, phoneBy, addresses) }] }]
  if (first?.tag === 'media_conn' && mediaHost) {
    const host = { tag: 'host', attrs: { hostname: mediaHost, maxContentLengthBytes: '100000000' } }
    return [{ tag: 'media_conn', attrs: { auth: 'a', ttl: '3600' }, content: [host] }]
  }
  if (xmlns === 'w:mex') return [{ tag: 'result', attrs: {}, content: Buffer.from(JSON.stringify({ data: standing })) }]
  return first && [{ tag: first.tag, attrs: {} }]
}

function bundles(request: BinaryNode, phoneBy: KnownPhones): BinaryNode[] {
  return getBinaryNodeChildren(request, 'user').flatMap(
    ({ attrs }) => phoneBy(attrs.jid as string)?.bundle(attrs.jid as string) ?? [],
  )
}

function users(request: BinaryNode, phoneBy: KnownPhones, addresses: Known['addresses']): BinaryNode[] {
  const query = getBinaryNodeChild(request, 'usync')
  const asked = getAllBinaryNodeChildren(getBinaryNodeChild(query, 'query') as BinaryNode).map(({ tag }) => tag)
  return getBinaryNodeChildren(getBinaryNodeChild(query, 'list'), 'user').map((user) => {
    const question = getBinaryNodeChild(user, 'contact')?.content
    const number = question?.toString().replace('+', '') ?? ''
    const jid = user.attrs.jid ?? `${addresses.get(number) ?? number}@s.whatsapp.net`
    const phone = phoneBy(jid)
    const devices = phone ? [{ tag: 'device', attrs: { id: '0' } }] : []
    const content: BinaryNode[] = []
    if (asked.includes('contact')) content.push({ tag: 'contact', attrs: { type: phone ? 'in' : 'out' }, content: question })
    if (asked.includes('devices'))
      content.push({ tag: 'devices', attrs: {}, content: [{ tag: 'device-list', attrs: {}, content: devices }] })
    if (asked.includes('lid') && phone) content.push({ tag: 'lid', attrs: { val: phone.lid } })
    return { tag: 'user', attrs: { jid }, content }
  })
}
