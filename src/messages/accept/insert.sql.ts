// SQL of new messages: one insert for all messages of a batch.
import { periodOfUserSql } from '../../billing/admission/period.ts'
import type { Sql } from '../../core/database/database.ts'
import type { Message } from '../../generated/prisma/client.ts'

const columns = {
  id: 'uuid',
  workspaceId: 'uuid',
  userId: 'uuid',
  instanceId: 'uuid',
  contactId: 'uuid',
  campaignId: 'uuid',
  type: 'message_type',
  from: 'text',
  to: 'text',
  peer: 'text',
  body: 'text',
  mediaUrl: 'text',
  content: 'jsonb',
  template: 'jsonb',
  reference: 'text',
  ignoresSuppression: 'boolean',
  warnings: 'jsonb',
  safety: 'jsonb',
  cold: 'boolean',
  scheduledAt: 'timestamptz',
  dueAt: 'timestamptz',
  createdAt: 'timestamptz',
  counted: 'boolean',
} as const

const names = Object.keys(columns) as (keyof typeof columns)[]
const stored = names.filter((name) => name !== 'counted' && name !== 'warnings')

const statement = `insert into messages (${stored.map((name) => `"${name}"`).join(', ')}, warnings, "countedPeriod", "updatedAt")
  select ${stored.map((name) => `u."${name}"`).join(', ')}, array(select jsonb_array_elements_text(u.warnings)),
    case when u.counted then p.period end, u."createdAt"
  from unnest(${names.map((name, i) => `$${i + 1}::${columns[name]}[]`).join(', ')}) as u(${names.map((name) => `"${name}"`).join(', ')})
  join (select w.id, ${periodOfUserSql('w."ownerId"')} as period from workspaces w where w.id = any($2::uuid[])) p on p.id = u."workspaceId"`

/** Inserts the rows in one statement (`npm run bench -- accept`). */
export async function insertMessages(tx: Sql, rows: readonly Message[]): Promise<void> {
  if (rows.length === 0) return
  const values = names.map((name) =>
    rows.map((row) => {
      if (name === 'counted') return row.scheduledAt === null
      if (name === 'content' || name === 'template') return row[name] === null ? null : JSON.stringify(row[name])
      return name === 'warnings' || name === 'safety' ? JSON.stringify(row[name]) : row[name]
    }),
  )
  await tx.query({ name: 'messages.insert', text: statement, values })
}
