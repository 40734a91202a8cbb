// A gateway that is killed after Meta took a message, and before that was committed: the message does not leave twice.
import { expect, it } from 'vitest'
import { sendAndKill } from './kill-rig.ts'

it('sends no message twice when its process dies between the call and the commit', async () => {
  expect(await sendAndKill(['send.before_commit'])).toEqual([{ sent: 1, error: 'UNKNOWN_OUTCOME' }])
})
