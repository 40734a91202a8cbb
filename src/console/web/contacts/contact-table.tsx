// A table of contacts, with an action for each where there is one.
import type { ReactNode } from 'react'
import type { ContactRowFragment } from '../generated/contacts/graphql.ts'
import { pathIn, To } from '../navigation.tsx'
import type { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import { text } from './words.ts'

interface ContactTableProps {
  name: string
  rows: readonly ContactRowFragment[]
  loading: boolean
  error: ApiError | undefined
  empty: string
  action?: (contact: ContactRowFragment) => ReactNode
}

export function ContactTable({ name, rows, loading, error, empty, action }: ContactTableProps) {
  const { team } = useWorkspace()
  const columns = [words.fields.name, text.number, words.fields.email, text.tags, text.since]
  return (
    <Table
      name={name}
      columns={action ? [...columns, text.actions] : columns}
      loading={loading}
      failed={error !== undefined}
      empty={<p>{empty}</p>}
    >
      {rows.map((contact) => (
        <Row
          key={contact.id}
          cells={[
            <To key="name" to={pathIn(team, `contacts/${contact.id}`)}>
              {contact.name}
            </To>,
            contact.phone,
            contact.email ?? words.none,
            contact.tags.join(', ') || words.none,
            <Time key="since" at={contact.createdAt} />,
            ...(action ? [action(contact)] : []),
          ]}
        />
      ))}
    </Table>
  )
}
