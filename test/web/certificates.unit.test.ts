// A signature that was verified is not verified again, and a wrong one never passes.
import { expect, it } from 'vitest'
import { rememberSignatures } from '../../src/providers/web/certificates.ts'

it('remembers right signatures of the same key and message alone', () => {
  let asked = 0
  const curve = {
    // Stands for a signature: the sum of its bytes.
    verify(key: Uint8Array, message: Uint8Array, signature: Uint8Array) {
      asked++
      return signature[0] === [...key, ...message].reduce((sum, byte) => (sum + byte) % 256, 0)
    },
  }
  rememberSignatures(curve)
  const bytes = (...values: number[]) => Uint8Array.from(values)
  for (let i = 0; i < 3; i++) expect(curve.verify(bytes(1, 2), bytes(3), bytes(6))).toBe(true)
  expect(asked).toBe(1)
  for (let i = 0; i < 2; i++) {
    expect(curve.verify(bytes(1, 2), bytes(3), bytes(7))).toBe(false)
    expect(curve.verify(bytes(1, 3), bytes(3), bytes(6))).toBe(false)
    expect(curve.verify(bytes(1, 2), bytes(4), bytes(6))).toBe(false)
  }
  expect(asked).toBe(7)
  // The boundary between two parts matters.
  expect(curve.verify(bytes(1), bytes(2, 3), bytes(6))).toBe(true)
  expect(asked).toBe(8)
})
