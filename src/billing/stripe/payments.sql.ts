// SQL of payments that Stripe reports.
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import type { InvoicePayment } from './state.ts'

/**
 * Upserts one row per invoice (unique index on "externalId"). The status only advances: a failed payment may be paid later, and a paid one
 * refunded.
 */
export async function storePayment(
  sql: Sql,
  userId: string,
  invoiceId: string,
  payment: Omit<InvoicePayment, 'status'> & { status: string },
): Promise<void> {
  const order = `array['failed', 'paid', 'refunded']`
  await sql.query(
    `insert into payments as p (id, "userId", "amountCents", currency, status, description, "externalId", "createdAt")
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict ("externalId") do update set status = excluded.status, "amountCents" = excluded."amountCents"
       where array_position(${order}, p.status::text) < array_position(${order}, excluded.status::text)`,
    [newId(), userId, payment.amountCents, payment.currency, payment.status, payment.description, invoiceId, payment.createdAt],
  )
}
