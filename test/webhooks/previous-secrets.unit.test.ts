// The secrets that rotations replaced: each signs for 24 hours from its own rotation.
import { expect, it } from 'vitest'
import { previousSecretsAt, withRetired, withTime } from '../../src/webhooks/previous-secrets.ts'

const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000)

it('each keeps its own 24 hours, however often the secret is rotated meanwhile', () => {
  let stored = withRetired(null, 'whsec_A', at(0))
  stored = withRetired(stored, 'whsec_B', at(10))
  stored = withRetired(stored, 'whsec_C', at(23))
  expect(previousSecretsAt(stored, at(23.9))).toEqual(['whsec_C', 'whsec_B', 'whsec_A'])
  expect(previousSecretsAt(stored, at(24))).toEqual(['whsec_C', 'whsec_B'])
  expect(previousSecretsAt(stored, at(40))).toEqual(['whsec_C'])
  expect(previousSecretsAt(stored, at(47))).toEqual([])
})

it('one that an earlier version stored keeps the time of its row', () => {
  expect(previousSecretsAt('whsec_A', at(1000))).toEqual(['whsec_A'])
  const stored = withRetired(withTime('whsec_A', at(5)), 'whsec_B', at(1))
  expect(previousSecretsAt(stored, at(4))).toEqual(['whsec_B', 'whsec_A'])
  expect(previousSecretsAt(stored, at(5))).toEqual(['whsec_B'])
})

it('at most ten are kept, the newest', () => {
  let stored: string | null = null
  for (let i = 0; i < 15; i++) stored = withRetired(stored, `whsec_${i}`, at(i / 60))
  expect(previousSecretsAt(stored, at(1))).toEqual(Array.from({ length: 10 }, (_, i) => `whsec_${14 - i}`))
})
