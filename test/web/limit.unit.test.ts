// The limit of tasks that run at the same time, when one comes at the moment at which another ends.
import { expect, it } from 'vitest'
import { createLimit } from '../../src/providers/web/limit.ts'

it('holds, and the task that waits comes first', async () => {
  const limit = createLimit(1)
  const begun: string[] = []
  const first = Promise.withResolvers<void>()
  const running = Promise.withResolvers<void>()
  const all = [
    limit(() => first.promise),
    limit(async () => {
      begun.push('second')
      await running.promise
    }),
    first.promise.then(() =>
      limit(async () => {
        begun.push('third')
      }),
    ),
  ]
  first.resolve()
  await new Promise(setImmediate)
  expect(begun).toEqual(['second'])
  running.resolve()
  await Promise.all(all)
  expect(begun).toEqual(['second', 'third'])
})
