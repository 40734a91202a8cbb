// Proves what the live view does when a stream ends: it resumes where it can, and reads all again only where it must.
import { describe, expect, it } from 'vitest'
import { endingOfCode, endingOfStatus } from '../../src/console/web/live/ending.ts'

describe('a stream that ends', () => {
  it('is resumed if the gateway was away, busy or without its database', () => {
    expect([undefined, 429, 500, 502, 503].map(endingOfStatus)).toEqual(Array(5).fill('closed'))
    expect(['SERVICE_UNAVAILABLE', 'API_RATE_LIMIT_EXCEEDED'].map(endingOfCode)).toEqual(['closed', 'closed'])
  })

  it('is resumed with another token if its own was refused or revoked', () => {
    expect(endingOfStatus(401)).toBe('unauthorized')
    expect(endingOfCode('UNAUTHORIZED')).toBe('unauthorized')
  })

  it('starts anew if its request or its cursor is refused', () => {
    expect([400, 403, 404].map(endingOfStatus)).toEqual(Array(3).fill('refused'))
    expect(['VALIDATION_ERROR', 'FORBIDDEN', 'INTERNAL_ERROR'].map(endingOfCode)).toEqual(Array(3).fill('refused'))
  })
})
