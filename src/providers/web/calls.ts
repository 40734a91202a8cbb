// Calls that only the holder of a connection can carry out: look-ups and read marks. Others leave them in a table, and wait.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { newId } from '../../core/id.ts'
import { addCall, type Call, deleteCall, readAnswer, storeAnswer, takeCalls } from './calls.sql.ts'

/** `undefined` if this process does not hold the connection, or it is not open. */
export type CarryOut = (instanceId: string, call: Call) => Promise<unknown> | undefined

const pollMs = 150

/** Carries out a call here or by the holder. Returns undefined if nobody did within `timeoutMs`. @throws Error when it failed. */
export async function callHolder(
  app: App,
  carryOut: CarryOut,
  instanceId: string,
  call: Call,
  timeoutMs: number,
): Promise<unknown> {
  const here = carryOut(instanceId, call)
  if (here) return await here
  const id = newId()
  await addCall(app.pool, id, instanceId, call)
  try {
    for (const giveUp = performance.now() + timeoutMs; performance.now() < giveUp; ) {
      await pause(pollMs)
      const answer = await readAnswer(app.pool, id)
      if (answer?.error) throw new Error(answer.error)
      if (answer) return answer.value
    }
    return undefined
  } finally {
    await deleteCall(app.pool, id)
  }
}

/** Carries out the calls that others left for the connections of this process. Each is taken once. */
export async function answerCalls(app: App, carryOut: CarryOut): Promise<void> {
  for (const { id, instanceId, request } of await takeCalls(app.pool, app.node)) {
    const work = carryOut(instanceId, request)
    if (!work) continue
    work
      .then(
        (value) => storeAnswer(app.pool, id, { value }),
        (error: Error) => storeAnswer(app.pool, id, { error: error.message }),
      )
      .catch((error: Error) => app.log.warn({ instanceId, err: error.message }, 'the answer to another process was not stored'))
  }
}
