// The deadline of a body: a route with more patience replaces the deadline that a stall has set.
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { noteRequest, waitForBody } from '../../src/core/http/connection.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('is that of the last call, and ends with the request', () => {
  const socket = { bytesRead: 0, destroyed: false, writable: false, destroySoon: vi.fn(), destroy: vi.fn() }
  const request = Object.assign(new EventEmitter(), { socket, complete: false })
  noteRequest(request as unknown as IncomingMessage, { headersSent: false } as ServerResponse)
  const incoming = request as unknown as IncomingMessage
  waitForBody(incoming, { bytesPerSecond: 1, maxBytes: 0 })
  waitForBody(incoming, { bytesPerSecond: 1, maxBytes: 100 })
  socket.bytesRead = 5
  vi.advanceTimersByTime(14_000)
  expect(socket.destroySoon).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2_000)
  expect(socket.destroySoon).toHaveBeenCalledOnce()

  waitForBody(incoming, { bytesPerSecond: 1, maxBytes: 0 })
  request.emit('close')
  vi.advanceTimersByTime(20_000)
  expect(socket.destroySoon).toHaveBeenCalledOnce()
})
