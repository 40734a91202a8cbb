// The API keys of the workspace: created, shown once, revoked.
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import type { KeyRowFragment } from '../generated/keys/graphql.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { Managed } from '../shell/managed.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { AddButton } from '../ui/add-button.tsx'
import { Spark } from '../ui/chart.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { count } from '../words/words.ts'
import { NewKeyDialog } from './new-key.tsx'
import { useApiKeys } from './use-api-keys.ts'
import { text } from './words.ts'

export function Keys() {
  return (
    <Managed title={text.title} closed={text.closed}>
      <Shown />
    </Managed>
  )
}

function Shown() {
  const { team } = useWorkspace()
  const { keys, loading, error, again, create, revoke } = useApiKeys()
  useRefresh(keys.length > 0, again, 5_000)
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<KeyRowFragment | null>(null)
  const columns = [
    text.name,
    text.key,
    text.access,
    text.created,
    ...(team ? [text.by] : []),
    text.used,
    text.recent,
    text.actions,
  ]
  return (
    <Page title={text.title} actions={<AddButton label={text.create} add={() => setCreating(true)} />}>
      <Refusal error={error} />
      <Table name={text.title} columns={columns} loading={loading} failed={error !== undefined} empty={<Nothing />}>
        {keys.map((key) => (
          <Row
            key={key.id}
            cells={[
              <strong key="name">{key.name}</strong>,
              <code key="prefix">{`${key.prefix}…`}</code>,
              text.accesses[key.access],
              <Time key="created" at={key.createdAt} />,
              ...(team ? [key.createdBy?.name ?? text.nobody] : []),
              key.lastUsedAt ? <Time key="used" at={key.lastUsedAt} /> : text.never,
              <Recent key="recent" days={key.days} />,
              <button
                key="revoke"
                type="button"
                className={parts.button}
                aria-label={text.revokeOf(key.name)}
                onClick={() => setRevoking(key)}
              >
                {text.revoke}
              </button>,
            ]}
          />
        ))}
      </Table>
      {keys.length > 0 && <ByDay keys={keys} />}
      {creating && <NewKeyDialog {...{ keys, again, create }} close={() => setCreating(false)} />}
      {revoking && (
        <Confirm
          title={text.revokeOf(revoking.name)}
          action={text.revoke}
          act={() => revoke(revoking.id)}
          close={() => setRevoking(null)}
        >
          {text.revokeNote}
        </Confirm>
      )}
    </Page>
  )
}

function Recent({ days }: Pick<KeyRowFragment, 'days'>) {
  return (
    <span className={parts.row}>
      <Spark points={days.map(({ day, requests }) => ({ label: day, value: requests }))} />
      {count(days.reduce((sum, { requests }) => sum + requests, 0))}
    </span>
  )
}

/** The numbers behind the small charts. */
function ByDay({ keys }: { keys: readonly KeyRowFragment[] }) {
  const rows = keys
    .flatMap(({ id, name, days }) => days.map((each) => ({ ...each, id, name })))
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => b.day.localeCompare(a.day))
  return (
    <details>
      <summary>{text.byDay}</summary>
      <Table name={text.byDay} columns={[text.day, text.name, text.requests]} loading={false} empty={<p>{text.unused}</p>}>
        {rows.map(({ id, day, name, requests }) => (
          <Row key={`${id} ${day}`} cells={[day, name, count(requests)]} />
        ))}
      </Table>
    </details>
  )
}

function Nothing() {
  return (
    <>
      <KeyRound size={22} aria-hidden />
      <h2>{text.emptyTitle}</h2>
      <p>{text.empty}</p>
    </>
  )
}
