// Messages of a connection are handled one after another, and only once what precedes their confirmation is done.
import { EventEmitter } from 'node:events'
import type { BinaryNode, WASocket } from 'baileys'
import { expect, it } from 'vitest'
import { keepArrivalOrder } from '../../src/providers/web/arrival-order.ts'

it('leaves a message unconfirmed whose storing failed or whose connection closed, and goes on with the next', async () => {
  const ws = Object.assign(new EventEmitter(), { isOpen: true })
  const handled: string[] = []
  const done = Promise.withResolvers<void>()
  ws.on('CB:message', async ({ attrs }: BinaryNode) => {
    // The first one takes longest.
    if (attrs.id === 'a') await new Promise(setImmediate)
    handled.push(Object.values(attrs).join(' '))
    if (attrs.id === 'c') ws.isOpen = false
    if (attrs.id === 'c') done.resolve()
  })
  const seen: (string | undefined)[] = []
  keepArrivalOrder({ ws } as unknown as Pick<WASocket, 'ws'>, async ({ attrs }) => {
    seen.push(attrs.id)
    if (attrs.id === 'b') throw new Error('aborted')
  })
  for (const attrs of [{ id: 'a', offline: '0' }, { id: 'b' }, { id: 'c' }, { id: 'd' }])
    ws.emit('CB:message', { tag: 'message', attrs })
  await done.promise
  await new Promise(setImmediate)
  expect([handled, seen]).toEqual([
    ['a', 'c'],
    ['a', 'b', 'c'],
  ])
})
