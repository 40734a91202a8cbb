// Passwords at rest.
import { expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '../../src/accounts/sign-in/password.ts'

it('keeps a password as Argon2id with a salt of its own', async () => {
  const [a, b] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  expect(a).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(a).not.toBe(b)
})

it('becomes the same string with the salt of another, and only the same password does', async () => {
  const before = await hashPassword('correct horse')
  expect(await hashPassword('correct horse', before)).toBe(before)
  expect(await hashPassword('correct horses', before)).not.toBe(before)
  expect(await hashPassword('correct horse', 'not a hash')).not.toBe(before)
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

it('is the same password whichever way its letters were typed', async () => {
  const [composed, decomposed] = ['Gr\u00fc\u00dfe aus K\u00f6ln', 'Gru\u0308\u00dfe aus Ko\u0308ln']
  expect(composed).not.toBe(decomposed)
  expect(await verifyPassword(await hashPassword(composed), decomposed)).toBe(true)
})

it('is hashed by few at a time, and refused at once where too many wait', async () => {
  const settled = await Promise.allSettled(Array.from({ length: 110 }, () => hashPassword('the same one')))
  const refused = settled.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(8)
  for (const one of refused)
    expect((one as PromiseRejectedResult).reason).toMatchObject({ extensions: { code: 'SERVICE_UNAVAILABLE' } })
  // And everybody has their turn again.
  expect(await hashPassword('the same one')).toMatch(/^\$argon2id\$/)
})
