// The facts of an endpoint: its events, its recent answers, and the progress of a redelivery.
import type { EndpointRowFragment, RedeliveryProgressFragment } from '../generated/webhooks/graphql.ts'
import parts from '../ui/parts.module.css'
import { Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import { EndpointState, SuccessRate } from './endpoint-state.tsx'
import { text } from './words.ts'

interface FactsProps {
  endpoint: EndpointRowFragment
  redelivery: RedeliveryProgressFragment | null
}

export function EndpointFacts({ endpoint, redelivery }: FactsProps) {
  const { lastFailure } = endpoint.health
  return (
    <section className={parts.panel} aria-label={text.state}>
      <dl className={`${parts.panelBody} ${parts.facts}`}>
        <dt>{text.state}</dt>
        <dd>
          <EndpointState {...endpoint} />
        </dd>
        <dt>{text.success}</dt>
        <dd>
          <SuccessRate {...endpoint} />
        </dd>
        {lastFailure && (
          <>
            <dt>{text.lastFailure}</dt>
            <dd>
              <Time at={lastFailure.at} /> {lastFailure.reason}
            </dd>
          </>
        )}
        <dt>{text.events}</dt>
        <dd>{endpoint.events.map((event) => words.event[event]).join(', ')}</dd>
        {redelivery && (
          <>
            <dt>{text.redelivery}</dt>
            <dd>
              <progress aria-label={text.redelivery} max={100} value={redelivery.progress} />{' '}
              {text.redelivered(count(redelivery.processedCount), count(redelivery.requestedCount))}
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}
