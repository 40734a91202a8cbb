// Passwords at rest.
import { expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '../../src/accounts/password.ts'

it('keeps a password as Argon2id with a salt of its own', async () => {
  const [a, b] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(a).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(a).not.toBe(b)
})

it('knows the right password and no other', async () => {
  const hash = await hashPassword('correct horse ä')
  expect(await verifyPassword(hash, 'correct horse ä')).toBe(true)
  expect(await verifyPassword(hash, 'correct horse a')).toBe(false)
  expect(await verifyPassword(hash, '')).toBe(false)
  expect(await verifyPassword('not a hash', 'correct horse ä')).toBe(false)
})

it('reads what other Argon2 libraries write', async () => {
  // From the reference implementation's own tests.
  const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  expect(await verifyPassword(hash, 'password')).toBe(true)
  expect(await verifyPassword(hash, 'Password')).toBe(false)
})
