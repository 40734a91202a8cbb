// The accounts of the installation with their plans.
import { OperatorAccountsDocument } from '../generated/operator/graphql.ts'
import { useList } from '../graph/use-list.ts'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { words } from '../words/words.ts'
import { text } from './words.ts'

export function Accounts() {
  const list = useList(
    OperatorAccountsDocument,
    { after: null },
    ({ operator }) => operator.accounts,
    ({ id }) => id,
  )
  return (
    <section className={parts.stack}>
      <h2>{text.accounts}</h2>
      <Refusal error={list.error} />
      <Table
        name={text.accounts}
        columns={[words.fields.email, words.fields.name, text.plan, text.status, text.created]}
        loading={list.loading}
        failed={list.error !== undefined}
        empty={<p>{text.noAccounts}</p>}
      >
        {list.rows.map(({ id, email, name, emailVerified, operator, plan, status, createdAt }) => {
          const marks = [!emailVerified && text.notVerified, operator && text.operator].filter(Boolean).join(', ')
          return (
            <Row
              key={id}
              cells={[
                <span key="email">
                  <strong>{email}</strong>
                  {marks && <span className={parts.hint}> {marks}</span>}
                </span>,
                name,
                plan ?? words.none,
                status ? (text.statuses[status] ?? status) : words.none,
                <Time key="created" at={createdAt} />,
              ]}
            />
          )
        })}
      </Table>
      <More list={list} />
    </section>
  )
}
