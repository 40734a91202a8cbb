// Files of inbound messages whose bytes are not those that Meta announced: a server in between gave a part, or something of its own.
import { expect, it } from 'vitest'
import { until } from '../kit/until.ts'
import { messageOf, openHookRig } from './hook-rig.ts'

it('a file of which a part comes, or a page of a proxy, or nothing, is fetched again until it is whole', async () => {
  const rig = await openHookRig()
  const line = await rig.line()
  const given = ['the whole fi', '<html>Please sign in to the network, and come again', '']
  for (const body of given) {
    const { id } = rig.standIn.addMedia(line.number, 'text/plain', Buffer.from('the whole file'))
    rig.standIn.addFault({ on: new RegExp(`GET .*files/${id}$`), effect: { bare: 200, body } })
    expect(await rig.tell(line, { messages: [messageOf('document', { id, mime_type: 'text/plain' })] })).toBe(200)
  }
  const messages = await until(async () => {
    const stored = await rig.inbound(line)
    return stored.length === given.length && stored.every(({ mediaUrl }) => mediaUrl !== null) && stored
  })
  for (const { mediaUrl } of messages) expect(await (await fetch(mediaUrl as string)).text()).toBe('the whole file')
})
