// The limit on exports of a workspace: a client that has gone takes none of them.
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { takeExport } from '../../src/http/export-limit.ts'

function responseOf(closed = false): ServerResponse {
  return Object.assign(new EventEmitter(), { closed }) as unknown as ServerResponse
}

it('counts an export until its connection closes, and none whose connection was closed before it began', () => {
  for (let n = 0; n < 9; n++) takeExport('workspace', responseOf(true))
  const running = Array.from({ length: 4 }, () => responseOf())
  for (const response of running) takeExport('workspace', response)
  expect(() => takeExport('workspace', responseOf())).toThrow('At most 4 exports')
  running[0]?.emit('close')
  expect(() => takeExport('workspace', responseOf())).not.toThrow()
})
