// Proves the encryption of stored secrets.
import { describe, expect, it } from 'vitest'
import { createSealer } from '../../src/core/seal.ts'

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
})
