// The plans side by side, with what is used of each limit.
import type { BillingPageQuery } from '../generated/billing/graphql.ts'
import parts from '../ui/parts.module.css'
import { Row, Table } from '../ui/table.tsx'
import { words } from '../words/words.ts'
import styles from './billing.module.css'
import { limits, type Plan, priceOf, type Used } from './limits.ts'
import { text } from './words.ts'

interface PlansProps {
  plans: readonly Plan[]
  usage: Used
  subscription: BillingPageQuery['subscription']
  /** False if the reader may not change the plan. */
  choose: false | ((plan: Plan) => void)
}

export function Plans({ plans, usage, subscription: { plan: current, status }, choose }: PlansProps) {
  const isCurrent = ({ code }: Plan) => code === current.code
  // The gateway refuses the others. To choose Free is to cancel.
  const mayCancel = current.code !== 'free' && (status === 'active' || status === 'past_due')
  const mayChoose = (plan: Plan) => (plan.code === 'free' ? mayCancel : status !== 'active' || !isCurrent(plan))
  const rows = limits.map(({ name, used, most, format }) => {
    const now = used(usage)
    return (
      <Row
        key={name}
        cells={[
          <strong key="name">{name}</strong>,
          now === undefined ? words.none : format(now),
          ...plans.map((plan) => {
            const bound = most(plan)
            if (bound === null) return text.unlimited
            if (now === undefined || now <= bound) return format(bound)
            return (
              <span key={plan.code}>
                {format(bound)} <span className={styles.over}>{text.over(format(now - bound))}</span>
              </span>
            )
          }),
        ]}
      />
    )
  })
  return (
    <section className={parts.stack}>
      <h2>{text.plans}</h2>
      <Table
        name={text.plans}
        columns={[text.what, text.used, ...plans.map((plan) => (isCurrent(plan) ? text.current(plan.name) : plan.name))]}
        loading={false}
        empty={null}
      >
        {[
          <Row key="price" cells={[<strong key="name">{text.price}</strong>, words.none, ...plans.map(priceOf)]} />,
          ...rows,
          ...(choose
            ? [
                <Row
                  key="choose"
                  cells={[
                    <strong key="name">{text.change}</strong>,
                    words.none,
                    ...plans.map((plan) =>
                      mayChoose(plan) ? (
                        <button key={plan.code} type="button" className={parts.button} onClick={() => choose(plan)}>
                          {text.choose(plan.name)}
                        </button>
                      ) : isCurrent(plan) ? (
                        text.yours
                      ) : (
                        words.none
                      ),
                    ),
                  ]}
                />,
              ]
            : []),
        ]}
      </Table>
    </section>
  )
}
