// The plan of the account: what it allows, what is used of it, and how it is changed and paid. A team's is that of its owner.
import { useState } from 'react'
import { BillingPageDocument, type BillingPageQuery, ResumeSubscriptionDocument } from '../generated/billing/graphql.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import { Managed } from '../shell/managed.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Time } from '../ui/time.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { ChangePlan } from './change-plan.tsx'
import { CheckoutNote } from './checkout-note.tsx'
import type { Plan } from './limits.ts'
import { Payments } from './payments.tsx'
import { Plans } from './plans.tsx'
import { text } from './words.ts'

/** A team shows its owner everything, its admins the plan and its use, and nothing to others. */
export function Billing() {
  const { team, teams } = useWorkspace()
  return (
    <Managed title={text.title} closed={text.closed}>
      <Shown pays={team === null || teams.find(({ id }) => id === team)?.role === 'owner'} />
    </Managed>
  )
}

function Shown({ pays }: { pays: boolean }) {
  const { team } = useWorkspace()
  const { data, error, again } = useRead(BillingPageDocument, {})
  const [chosen, setChosen] = useState<Plan | null>(null)
  const [ordered, setOrdered] = useState<Plan | null>(null)
  return (
    <Page title={text.title}>
      {team !== null && <p className={parts.hint}>{text.ofOwner}</p>}
      <Refusal error={error} />
      {data && <CheckoutNote plan={data.subscription.plan} again={again} />}
      <p role="status" className={parts.note}>
        {ordered && text.ordered(ordered.name)}
      </p>
      {!data && !error && <p>{words.loading}</p>}
      {data && (
        <>
          <Subscription
            subscription={data.subscription}
            cancel={pays && (() => setChosen(data.plans.find(({ code }) => code === 'free') ?? null))}
            again={again}
          />
          <Plans plans={data.plans} usage={data.usage} subscription={data.subscription} choose={pays && setChosen} />
          {pays && <Payments />}
          {chosen && (
            <ChangePlan
              plan={chosen}
              usage={data.usage}
              done={(isOrdered) => {
                setOrdered(isOrdered ? chosen : null)
                again()
              }}
              close={() => setChosen(null)}
            />
          )}
        </>
      )}
    </Page>
  )
}

interface SubscriptionProps {
  subscription: BillingPageQuery['subscription']
  /** Asks whether to cancel it; false if the reader may not. */
  cancel: false | (() => void)
  again: () => void
}

function Subscription({
  subscription: { plan, status, suspended, currentPeriodStart, currentPeriodEnd },
  cancel,
  again,
}: SubscriptionProps) {
  const { team } = useWorkspace()
  const resume = useTask(async () => {
    await ask(team, ResumeSubscriptionDocument, {})
    again()
  })
  const isPaid = plan.code !== 'free' && (status === 'active' || status === 'past_due')
  return (
    <section className={parts.panel} aria-label={text.subscription}>
      <div className={parts.panelHead}>
        <h2>{text.subscription}</h2>
        {cancel && isPaid && (
          <button type="button" className={`${parts.button} ${parts.danger}`} onClick={cancel}>
            {text.cancel}
          </button>
        )}
        {cancel && status === 'cancelled' && (
          <button type="button" className={parts.button} disabled={resume.running} onClick={() => resume.run()}>
            {text.resume}
          </button>
        )}
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Refusal error={resume.error} />
        <dl className={parts.details}>
          <dt>{text.plan}</dt>
          <dd>{plan.name}</dd>
          <dt>{text.status}</dt>
          <dd>{text.statuses[suspended ? 'suspended' : status]}</dd>
          <dt>{text.period}</dt>
          <dd>
            <Time at={currentPeriodStart} /> – <Time at={currentPeriodEnd} />
          </dd>
        </dl>
      </div>
    </section>
  )
}
