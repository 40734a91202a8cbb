// Parts: what a domain owns once per App.
import { expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { definePart } from '../../src/core/part.ts'

const newApp = () => ({}) as App

it('is created once per App, on first use, and is not shared by two Apps', () => {
  let created = 0
  const counter = definePart(() => ({ number: ++created }))
  const [one, other] = [newApp(), newApp()]
  expect(created).toBe(0)
  expect(counter(one)).toBe(counter(one))
  expect(counter(one)).not.toBe(counter(other))
  expect(created).toBe(2)
})

it('is created again on the next use if its creation failed, and keeps undefined as a value', () => {
  let calls = 0
  const flaky = definePart(() => {
    if (++calls === 1) throw new Error('not yet')
  })
  const app = newApp()
  expect(() => flaky(app)).toThrow('not yet')
  expect(flaky(app)).toBeUndefined()
  expect(flaky(app)).toBeUndefined()
  expect(calls).toBe(2)
})

it('can be replaced in one App', () => {
  const name = definePart(() => 'created')
  const [one, other] = [newApp(), newApp()]
  name.replace(one, 'replaced')
  expect([name(one), name(other)]).toEqual(['replaced', 'created'])
})
