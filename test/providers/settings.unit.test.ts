// Settings of instances at rest: what is encrypted, what a logout erases, and what remains readable without the right SECRET_KEY.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createSealer } from '../../src/core/seal.ts'
import { createSettingsStore } from '../../src/providers/settings.ts'

const schema = z.strictObject({
  number: z.string(),
  token: z.string(),
  signingKey: z.string().optional(),
  pace: z.int().default(5),
})
const storeWith = (key: number) =>
  createSettingsStore(createSealer(Buffer.alloc(32, key)), schema, { token: 'logout', signingKey: 'deletion' }, 'number')
const store = storeWith(1)
const given = { number: '7', token: 'secret-token', signingKey: 'secret-key' }

it('encrypts the secret settings and stores the others with their defaults', () => {
  const { settings, credentials } = store.store(given)
  expect(settings).toEqual({ number: '7', pace: 5 })
  expect(Buffer.from(credentials as Uint8Array).toString('latin1')).not.toMatch(/secret|token/)
  expect(store.open({ settings, credentials })).toEqual({ ...given, pace: 5 })
})

it('stores no credentials when no secret is given', () => {
  const { store: plain, open } = createSettingsStore(createSealer(Buffer.alloc(32)), z.strictObject({ a: z.string() }), {})
  expect(plain({ a: 'b' })).toEqual({ settings: { a: 'b' }, credentials: null })
  expect(open({ settings: { a: 'b' }, credentials: null })).toEqual({ a: 'b' })
})

it('gives stored settings the defaults of later versions', () => {
  const { credentials } = store.store(given)
  expect(store.open({ settings: { number: '7' }, credentials }).pace).toBe(5)
})

it('names every setting that is wrong, missing or unknown', () => {
  const refused = () => store.store({ number: 7, pace: 'fast', colour: 'red' })
  expect(refused).toThrow(
    /^settings.number: must be a string; settings.token: is required; settings.pace: must be .*; settings.colour: is unknown$/,
  )
})

it('takes null in a new instance as a setting that is left out', () => {
  expect(store.open(store.store({ number: '7', token: 'x', signingKey: null, pace: null }))).toEqual({
    number: '7',
    token: 'x',
    pace: 5,
  })
  expect(() => store.store({ number: null, token: null })).toThrow('settings.number: is required; settings.token: is required')
})

it('erases at logout the secrets of the login alone', () => {
  const stored = store.store(given)
  const after = { ...stored, credentials: store.afterLogout(stored) }
  expect(store.openKnown(after)).toEqual({ number: '7', signingKey: 'secret-key', pace: 5 })
  expect(() => store.open(after)).toThrow('settings.token: is required')
  const { signingKey: _, ...onlyLogin } = given
  expect(store.afterLogout(store.store(onlyLogin))).toBeNull()
})

it('knows only the plain settings under another SECRET_KEY, and erases what it cannot read', () => {
  const other = storeWith(2)
  const stored = store.store(given)
  expect(() => other.open(stored)).toThrow('The secrets of this instance cannot be decrypted on this server')
  expect(other.openKnown(stored)).toEqual({ number: '7', pace: 5 })
  expect(other.afterLogout(stored)).toBeNull()
})

it('changes the given settings in place, and tells whether the login is a new one', () => {
  const before = store.store({ ...given, pace: 7 })
  const { newLogin, ...after } = store.change(before, { token: 'another', number: '7' })
  expect([newLogin, store.open(after)]).toEqual([true, { ...given, token: 'another', pace: 7 }])
  expect(Buffer.from(after.credentials as Uint8Array).toString('latin1')).not.toMatch(/secret|another/)
  const again = store.change(after, { token: 'another', signingKey: null, pace: null })
  expect([again.newLogin, store.open(again)]).toEqual([false, { number: '7', token: 'another', pace: 5 }])
})

it('names every change that is wrong, and changes no identity', () => {
  const before = store.store(given)
  expect(() => store.change(before, { number: '8', token: null, pace: 'fast', colour: 'red' })).toThrow(
    /^settings.number: cannot be changed; settings.token: is required; settings.pace: must be .*; settings.colour: is unknown$/,
  )
})

it('is whole again after the secrets that cannot be decrypted are given anew', () => {
  const stored = storeWith(2).store(given)
  expect(() => store.change(stored, { pace: 9 })).toThrow('settings.token: is required')
  expect(store.open(store.change(stored, { token: 'new' }))).toEqual({ number: '7', token: 'new', pace: 5 })
})
