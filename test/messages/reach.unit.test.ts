// Proves when an instance reaches a cap of 24 hours at the rate of the last hour.
import { expect, it } from 'vitest'
import { reachedAt } from '../../src/messages/safety/reach.ts'

const now = new Date('2026-11-25T12:00:30Z')
const minute = Math.floor(now.getTime() / 60_000)
const ago = (minutes: number, n: number): [number, number] => [minute - minutes, n]
const inMinutes = (minutes: number) => new Date((minute + minutes) * 60_000)

it.each<[string, [number, number][], number, Date | null]>([
  ['not if nothing left in the last hour', [ago(90, 50)], 100, null],
  ['now if it is reached already', [ago(90, 100)], 100, now],
  ['after as many minutes as are missing at one a minute', [ago(30, 60)], 100, inMinutes(40)],
  ['counts what left earlier in the 24 hours', [ago(300, 20), ago(30, 60)], 100, inMinutes(20)],
  ['lets go of what is older than 24 hours then', [ago(1_430, 60), ago(30, 60)], 150, inMinutes(90)],
  ['not if a day at this rate stays below it', [ago(30, 60)], 1_500, null],
  ['not because of what is yet to come', [ago(-30, 500)], 100, null],
])('%s', (_, minutes, cap, at) => {
  expect(reachedAt(minutes, cap, now)).toEqual(at)
})
