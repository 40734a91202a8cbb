// The whole installation, for operators: its processes, its queues with the jobs that failed for good, and its accounts.
import { OperatorMigrationsDocument, OperatorPageDocument, type OperatorPageQuery } from '../generated/operator/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { useAddress } from '../navigation.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { duration, Time } from '../ui/time.tsx'
import { count, words } from '../words/words.ts'
import { Accounts } from './accounts.tsx'
import { DeadJobs } from './dead-jobs.tsx'
import { Queues } from './queues.tsx'
import { text } from './words.ts'

type Installation = OperatorPageQuery['operator']

/** Other people are told that there is no such page. */
export function Operator() {
  const { me } = useWorkspace()
  return me.operator ? <Shown /> : <NotFound />
}

function Shown() {
  const [{ queue }] = useAddress()
  const { data, error, loading, again } = useRead(OperatorPageDocument, { queue: queue ?? null })
  useRefresh(true, again, 5_000)
  const found = data?.operator
  if (error?.code === 'FORBIDDEN') return <NotFound />
  return (
    <Page title={words.pages.operator}>
      <Refusal error={error} />
      {!found && loading && <p>{words.loading}</p>}
      {found && (
        <>
          <State installation={found} />
          <Nodes nodes={found.nodes} loading={loading} />
          <DeadJobs queue={queue} jobs={found.deadJobs} loading={loading} again={again} />
          <Queues queues={found.queues} loading={loading} />
          <Accounts />
        </>
      )}
    </Page>
  )
}

function State({ installation: { nodes, relay, openStreams, waitingMails } }: { installation: Installation }) {
  const { data } = useRead(OperatorMigrationsDocument, {})
  const migrations = data?.operator.migrations ?? []
  const versions = [...new Set(nodes.filter(({ alive }) => alive).map(({ version }) => version))]
  return (
    <section className={parts.panel} aria-label={text.state}>
      <dl className={`${parts.panelBody} ${parts.facts}`}>
        <dt>{text.versions}</dt>
        <dd>{versions.join(', ') || words.none}</dd>
        <dt>{text.relay}</dt>
        <dd>{relay.waiting === 0 ? count(0) : text.lag(count(relay.waiting), duration(relay.lagSeconds * 1_000))}</dd>
        <dt>{text.streams}</dt>
        <dd>{count(openStreams)}</dd>
        <dt>{text.mails}</dt>
        <dd>{count(waitingMails)}</dd>
        <dt>{text.migrations}</dt>
        <dd>{text.migrated(count(migrations.filter(({ applied }) => applied).length), count(migrations.length))}</dd>
      </dl>
    </section>
  )
}

function Nodes({ nodes, loading }: { nodes: Installation['nodes']; loading: boolean }) {
  return (
    <section className={parts.stack}>
      <h2>{text.nodes}</h2>
      <Table
        name={text.nodes}
        columns={[text.host, text.roles, text.version, text.started, text.seen, text.streams, text.aliveColumn]}
        loading={loading}
        empty={null}
      >
        {nodes.map(({ id, host, pid, roles, version, startedAt, seenAt, openStreams, alive }) => (
          <Row
            key={id}
            cells={[
              <strong key="host" title={id}>{`${host} (${pid})`}</strong>,
              roles.join(', '),
              version,
              <Time key="started" at={startedAt} />,
              <Time key="seen" at={seenAt} />,
              count(openStreams),
              alive ? text.alive : <strong key="state">{text.dead}</strong>,
            ]}
          />
        ))}
      </Table>
    </section>
  )
}
