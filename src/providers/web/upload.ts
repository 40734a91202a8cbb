// Uploads files over an open connection, to the hosts that the network names.
import type { BinaryNode, MediaConnInfo, WAMediaUploadFunction, WASocket } from 'baileys'
import { silent, type WhatsApp } from './package.ts'

/**
 * The package asks for hosts once in a connection, and keeps even a refusal, after which no file leaves over that connection. This function
 * keeps hosts for the time that the network names, and asks again after an upload failed.
 */
export function createUpload({ query, authState }: WASocket, whatsApp: WhatsApp): WAMediaUploadFunction {
  let known: Promise<MediaConnInfo> | undefined

  async function hosts(force: boolean): Promise<MediaConnInfo> {
    const found = force ? undefined : await known
    if (found && Date.now() - found.fetchDate.getTime() < found.ttl * 1000) return found
    known = ask()
    return await known
  }

  async function ask(): Promise<MediaConnInfo> {
    const request = { type: 'set', xmlns: 'w:m', to: whatsApp.S_WHATSAPP_NET }
    const answer: BinaryNode = await query({ tag: 'iq', attrs: request, content: [{ tag: 'media_conn', attrs: {} }] })
    const named = whatsApp.getBinaryNodeChild(answer, 'media_conn')
    const { auth = '', ttl } = named?.attrs ?? {}
    const found = whatsApp.getBinaryNodeChildren(named, 'host').map(({ attrs }) => ({
      hostname: attrs.hostname as string,
      maxContentLengthBytes: Number(attrs.maxContentLengthBytes),
    }))
    return { auth, ttl: Number(ttl), hosts: found, fetchDate: new Date() }
  }

  const upload = whatsApp.getWAUploadToServer({ ...whatsApp.DEFAULT_CONNECTION_CONFIG, auth: authState, logger: silent }, hosts)
  return async (path, options) => {
    try {
      return await upload(path, options)
    } catch (error) {
      known = undefined
      throw error
    }
  }
}
