// Proves the encryption of stored secrets.
import { describe, expect, it } from 'vitest'
import { createSealer } from '../../src/core/seal.ts'
import { openCursor, sealCursor } from '../../src/events/log/cursor.ts'

const sealer = createSealer(Buffer.alloc(32, 1))

describe('a sealed value', () => {
  it('decrypts to what was sealed', () => {
    for (const plain of ['', 'whsec_x', 'ä😀', 'x'.repeat(100_000)]) {
      expect(sealer.open(sealer.seal(plain)).toString()).toBe(plain)
    }
    expect(sealer.open(new Uint8Array(sealer.seal(Buffer.from([0, 255]))))).toEqual(Buffer.from([0, 255]))
  })

  it('reveals neither its content nor whether two values are equal', () => {
    expect(sealer.seal('secret').includes('secret')).toBe(false)
    expect(sealer.seal('secret').equals(sealer.seal('secret'))).toBe(false)
  })

  it('cannot be opened with another key', () => {
    expect(() => createSealer(Buffer.alloc(32, 2)).open(sealer.seal('secret'))).toThrow()
  })

  it('cannot be opened after a single bit was changed', () => {
    const sealed = sealer.seal('secret')
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      expect(() => sealer.open(changed)).toThrow()
    }
  })

  it('cannot be opened after it was cut off, with a part of its tag', () => {
    const sealed = sealer.seal('')
    for (let length = 0; length < sealed.length; length++) expect(sealer.tryOpen(sealed.subarray(0, length))).toBeUndefined()
  })
})

describe('a sealer with a previous key', () => {
  const [old, now] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const both = createSealer(now, old)

  it('opens what either key sealed, and nothing else', () => {
    expect(both.open(createSealer(old).seal('before')).toString()).toBe('before')
    expect(both.open(createSealer(now).seal('after')).toString()).toBe('after')
    const foreign = createSealer(Buffer.alloc(32, 3)).seal('secret')
    expect(both.tryOpen(foreign)).toBeUndefined()
    expect(() => both.open(foreign)).toThrow(/SECRET_KEY_PREVIOUS/)
  })

  it('seals under the current key only', () => {
    expect(createSealer(now).open(both.seal('x')).toString()).toBe('x')
    expect(createSealer(old).tryOpen(both.seal('x'))).toBeUndefined()
    expect(both.derive('p')).toEqual(createSealer(now).derive('p'))
    expect(both.derivePrevious('p')).toEqual(createSealer(old).derive('p'))
  })

  it('opens event cursors of before the change, and issues them under the current key', () => {
    const place = { seq: 7n, mark: 40, at: new Date('2026-11-20T06:00:00Z') }
    const workspace = '01980000-0000-7000-8000-000000000001'
    expect(openCursor(both, workspace, sealCursor(createSealer(old), workspace, place))).toEqual({ place, old: undefined })
    expect(sealCursor(both, workspace, place)).toBe(sealCursor(createSealer(now), workspace, place))
  })
})
