// The outcome of the payment that its reader comes back from. No event tells of a plan, so it is read again a few times, ever more rarely.
import { useEffect, useState } from 'react'
import { useAddress } from '../navigation.tsx'
import parts from '../ui/parts.module.css'
import { awaitedPlan, planArrived } from './ordered-plan.ts'
import { text } from './words.ts'

/** Pauses between the readings. After the last one a button reads on. */
const pausesMs = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000]

export function CheckoutNote({ plan, again }: { plan: { code: string; name: string }; again: () => void }) {
  const [{ checkout }] = useAddress()
  const [awaited] = useState(awaitedPlan)
  const [readings, setReadings] = useState(0)
  // The payment page of another tab or browser leads here too; the plan that was paid for is not known then.
  const isThere = awaited === null ? plan.code !== 'free' : plan.code === awaited
  const waits = checkout === 'completed' && !isThere
  const pauseMs = pausesMs[readings]
  // biome-ignore lint/correctness/useExhaustiveDependencies: `again` is another function at each rendering.
  useEffect(() => {
    if (!waits || pauseMs === undefined) return
    const timer = setTimeout(() => {
      if (document.visibilityState === 'visible') again()
      setReadings(readings + 1)
    }, pauseMs)
    return () => clearTimeout(timer)
  }, [waits, pauseMs, readings])
  useEffect(() => {
    if (checkout === 'completed' && isThere) planArrived()
  }, [checkout, isThere])
  const isSlow = waits && pauseMs === undefined
  return (
    <div role="status" className={parts.note}>
      {checkout === 'cancelled' && text.abandoned}
      {checkout === 'completed' && isThere && text.confirmed(plan.name)}
      {waits && (isSlow ? text.slow : text.completed)}
      {isSlow && (
        <button type="button" className={parts.button} onClick={() => setReadings(0)}>
          {text.look}
        </button>
      )}
    </div>
  )
}
