// The queues of background jobs. The dead ones of a queue are a click away.
import type { OperatorPageQuery } from '../generated/operator/graphql.ts'
import { To } from '../navigation.tsx'
import parts from '../ui/parts.module.css'
import { Row, Table } from '../ui/table.tsx'
import { duration } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import { text } from './words.ts'

type Queue = OperatorPageQuery['operator']['queues'][number]

/** Those with jobs come first. */
function isIdle({ due, active, dead }: Queue): boolean {
  return due + active + dead === 0
}

export function Queues({ queues, loading }: { queues: readonly Queue[]; loading: boolean }) {
  const sorted = queues.toSorted((a, b) => Number(isIdle(a)) - Number(isIdle(b)))
  return (
    <section className={parts.stack}>
      <h2>{text.queues}</h2>
      <Table
        name={text.queues}
        columns={[text.queue, text.due, text.oldest, text.active, text.later, text.died]}
        loading={loading}
        empty={null}
      >
        {sorted.map(({ name, due, oldestAt, lagSeconds, active, later, dead }) => (
          <Row
            key={name}
            cells={[
              <strong key="name">{name}</strong>,
              count(due),
              oldestAt ? duration(lagSeconds * 1_000) : words.none,
              count(active),
              count(later),
              dead === 0 ? (
                count(0)
              ) : (
                <To key="dead" to="/operator" search={{ queue: name }} aria-label={text.deadOf(count(dead), name)}>
                  {count(dead)}
                </To>
              ),
            ]}
          />
        ))}
      </Table>
    </section>
  )
}
