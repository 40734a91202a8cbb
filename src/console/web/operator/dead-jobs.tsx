// The jobs that failed for good, and a button that puts each back into its queue.
import { useState } from 'react'
import { type OperatorPageQuery, RetryDeadJobDocument } from '../generated/operator/graphql.ts'
import { ask } from '../graph/request.ts'
import { To } from '../navigation.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useTask } from '../ui/use-task.ts'
import { count, words } from '../words/words.ts'
import { text } from './words.ts'

interface DeadJobsProps {
  /** Only the jobs of this queue are shown. */
  queue: string | undefined
  jobs: OperatorPageQuery['operator']['deadJobs']
  loading: boolean
  again: () => void
}

export function DeadJobs({ queue, jobs, loading, again }: DeadJobsProps) {
  const [said, setSaid] = useState('')
  const retry = useTask(async (id: string) => {
    const { retryDeadJob } = await ask(null, RetryDeadJobDocument, { id })
    setSaid(text.retried(retryDeadJob.queue))
    again()
  })
  return (
    <section className={parts.stack}>
      <div className={parts.head}>
        <h2>{text.deadJobs}</h2>
        {queue && (
          <span className={parts.row}>
            {text.only(queue)}
            <To to="/operator">{text.all}</To>
          </span>
        )}
      </div>
      <p className={parts.hint}>{text.deadNote}</p>
      <Refusal error={retry.error} />
      <p role="status" className={parts.note}>
        {said}
      </p>
      <Table
        name={text.deadJobs}
        columns={[text.queue, text.failedAt, text.tries, text.reason, text.data, text.action]}
        loading={loading}
        empty={<p>{text.noDead}</p>}
      >
        {jobs.map(({ id, queue: name, failedAt, tries, reason, data }) => (
          <Row
            key={id}
            cells={[
              <strong key="queue" id={`job-${id}`}>
                {name}
              </strong>,
              <Time key="failed" at={failedAt} />,
              count(tries),
              reason ?? words.none,
              <code key="data">{JSON.stringify(data)}</code>,
              <button
                key="retry"
                type="button"
                className={parts.button}
                aria-describedby={`job-${id}`}
                disabled={retry.running}
                onClick={() => retry.run(id)}
              >
                {text.retry}
              </button>,
            ]}
          />
        ))}
      </Table>
    </section>
  )
}
