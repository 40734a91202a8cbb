// The dialog that changes the plan: what it costs, what exceeds it, and which teams are in its way.
import { useRef } from 'react'
import { CancelSubscriptionDocument, OrderPlanDocument, type PaidPlan } from '../generated/billing/graphql.ts'
import { newIdempotencyKey } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { pathIn, To } from '../navigation.tsx'
import { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { useShown } from '../ui/use-shown.ts'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { excessOf, type Plan, priceOf, type Used } from './limits.ts'
import { awaitPlan } from './ordered-plan.ts'
import { text } from './words.ts'

interface ChangeProps {
  plan: Plan
  usage: Used
  /** `isOrdered` is false for a cancellation. */
  done: (isOrdered: boolean) => void
  close: () => void
}

export function ChangePlan({ plan, usage, done, close }: ChangeProps) {
  const { team, teams } = useWorkspace()
  const idempotencyKey = useRef(newIdempotencyKey())
  const shown = useShown()
  const isFree = plan.code === 'free'
  const task = useTask(async () => {
    if (isFree) await ask(team, CancelSubscriptionDocument, {})
    else {
      const input = { plan: plan.code as PaidPlan, idempotencyKey: idempotencyKey.current }
      const { checkout } = await ask(team, OrderPlanDocument, { input })
      if (checkout.url) {
        awaitPlan(plan.code)
        location.assign(checkout.url)
        return
      }
    }
    done(!isFree)
    // Another dialog may be open by then.
    if (shown.current) close()
  })
  const excess = excessOf(plan, usage)
  const isBlocked = task.error instanceof ApiError && task.error.code === 'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS'
  const title = isFree ? text.cancel : text.choose(plan.name)
  return (
    <Dialog title={title} close={close}>
      <div className={parts.stack}>
        <p>{isFree ? text.cancelNote : text.orderNote(priceOf(plan))}</p>
        {excess.length > 0 && (
          <div>
            <p>{text.excess}</p>
            <ul>
              {excess.map(({ name, used, most }) => (
                <li key={name}>{text.excessOf(name, used, most)}</li>
              ))}
            </ul>
            <p className={parts.hint}>{text.rests}</p>
          </div>
        )}
        <Refusal error={task.error} />
        {isBlocked && (
          <div>
            <h3>{text.reduce}</h3>
            <ul aria-label={text.reduce} className={parts.row}>
              {teams
                .filter(({ role }) => role === 'owner')
                .map(({ id, name }) => (
                  <li key={id}>
                    <To to={pathIn(id, 'team')} className={parts.button}>
                      {name}
                    </To>
                  </li>
                ))}
            </ul>
          </div>
        )}
        <div className={parts.row}>
          <button
            type="button"
            className={`${parts.button} ${isFree ? parts.danger : parts.main}`}
            disabled={task.running}
            onClick={() => task.run()}
          >
            {isFree ? text.cancel : text.order(plan.name)}
          </button>
          <button type="button" className={parts.button} onClick={close}>
            {words.actions.keep}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
