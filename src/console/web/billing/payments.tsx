// The payments, newest first.
import { PaymentsDocument } from '../generated/billing/graphql.ts'
import { useRead } from '../graph/use-read.ts'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { money } from './limits.ts'
import { text } from './words.ts'

export function Payments() {
  const { data, error, loading } = useRead(PaymentsDocument, {})
  return (
    <section className={parts.stack}>
      <h2>{text.payments}</h2>
      <Refusal error={error} />
      <Table
        name={text.payments}
        columns={[text.date, text.for, text.amount, text.status]}
        loading={loading}
        failed={error !== undefined}
        empty={<p>{text.noPayments}</p>}
      >
        {(data?.payments ?? []).map(({ id, createdAt, description, amount, currency, status }) => (
          <Row
            key={id}
            cells={[<Time key="date" at={createdAt} />, description, money(amount, currency), text.paymentStatus[status]]}
          />
        ))}
      </Table>
    </section>
  )
}
