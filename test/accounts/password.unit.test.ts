// Passwords are hashed with Argon2id and verified, with a bound on concurrent hashing.
import { expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '../../src/accounts/sign-in/password.ts'

it('hashes a password as Argon2id with its own random salt', async () => {
  const [a, b] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(a).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(a).not.toBe(b)
})

it('reproduces a hash only for the same password with the same salt', async () => {
  const before = await hashPassword('correct horse')
  expect(await hashPassword('correct horse', before)).toBe(before)
  expect(await hashPassword('correct horses', before)).not.toBe(before)
  expect(await hashPassword('correct horse', 'not a hash')).not.toBe(before)
})

it('accepts the right password and no other', async () => {
  const hash = await hashPassword('correct horse ä')
  expect(await verifyPassword(hash, 'correct horse ä')).toBe(true)
  expect(await verifyPassword(hash, 'correct horse a')).toBe(false)
  expect(await verifyPassword(hash, '')).toBe(false)
  expect(await verifyPassword('not a hash', 'correct horse ä')).toBe(false)
})

it('verifies hashes of other Argon2 libraries', async () => {
  // The hash is from the tests of the Argon2 reference implementation.
  const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
  expect(await verifyPassword(hash, 'password')).toBe(true)
  expect(await verifyPassword(hash, 'Password')).toBe(false)
})

it('treats composed and decomposed Unicode forms as the same password', async () => {
  const [composed, decomposed] = ['Gr\u00fc\u00dfe aus K\u00f6ln', 'Gru\u0308\u00dfe aus Ko\u0308ln']
  expect(composed).not.toBe(decomposed)
  expect(await verifyPassword(await hashPassword(composed), decomposed)).toBe(true)
})

it('bounds concurrent hashing, and refuses at once when too many requests wait', async () => {
  const settled = await Promise.allSettled(Array.from({ length: 110 }, () => hashPassword('the same one')))
  const refused = settled.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(8)
  for (const one of refused)
    expect((one as PromiseRejectedResult).reason).toMatchObject({ extensions: { code: 'SERVICE_UNAVAILABLE' } })
  // Capacity is available again afterwards.
  expect(await hashPassword('the same one')).toMatch(/^\$argon2id\$/)
})
