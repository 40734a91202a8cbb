// Resolves the audience of a campaign: numbers, contacts and groups become distinct numbers, in the order of first mention.
import { setImmediate as turn } from 'node:timers/promises'
import { z } from 'zod'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { faultsOf } from '../core/validation.ts'
import { type CampaignFields, recipient } from './input.ts'
import { maxRecipients } from './policy.ts'

export interface Recipient {
  to: string
  contactId: string | null
  /** This recipient's own values for a template. */
  variables: Record<string, string> | null
}

/** Recipients by phone number, in sending order. */
export type Audience = Map<string, Recipient>

/** Numbers that are parsed before the event loop gets a turn; they take a few milliseconds. */
const atOnce = 250
const maxFaults = 100
const tooMany = `recipients: must be at most ${maxRecipients} distinct numbers, those of contacts and groups included`

/** @throws VALIDATION_ERROR when an item is invalid; the message names the first hundred faults with index and field. */
export async function readNumbers(items: readonly unknown[]): Promise<Audience> {
  const audience: Audience = new Map()
  const faults: string[] = []
  for (const [index, item] of items.entries()) {
    if (index % atOnce === atOnce - 1) await turn()
    const parsed = recipient.safeParse(item)
    if (parsed.success) {
      const { to, variables = null } = parsed.data
      if (!audience.has(to)) audience.set(to, { to, contactId: null, variables })
    } else {
      if (faults.length === maxFaults) fail('VALIDATION_ERROR', `${faults.join('; ')}; and more`)
      faults.push(faultOf(parsed.error, index))
    }
  }
  if (faults.length > 0) fail('VALIDATION_ERROR', faults.join('; '))
  return audience
}

function faultOf(error: z.ZodError, index: number): string {
  const issues = error.issues.map((issue) => ({ ...issue, path: ['recipients', index, ...issue.path] }))
  return faultsOf(new z.ZodError(issues))
}

/**
 * Adds the contacts and group members that `fields` names. @throws NOT_FOUND when a contact or group is not in the workspace;
 * VALIDATION_ERROR when the audience is empty or larger than `maxRecipients`.
 */
export async function addContacts(tx: Sql, workspaceId: string, fields: CampaignFields, audience: Audience): Promise<void> {
  for (const contact of await contactsOf(tx, workspaceId, [...new Set(fields.contactIds)])) add(audience, contact)
  for (const contact of await membersOf(tx, workspaceId, [...new Set(fields.groupIds)])) add(audience, contact)
  if (audience.size > maxRecipients) fail('VALIDATION_ERROR', tooMany)
  if (audience.size === 0) fail('VALIDATION_ERROR', 'recipients: nobody is left; the groups have no members')
}

function add(audience: Audience, { id, phone: to }: ContactRow): void {
  const named = audience.get(to)
  if (named) named.contactId ??= id
  else audience.set(to, { to, contactId: id, variables: null })
}

interface ContactRow {
  id: string
  phone: string
}

async function contactsOf(tx: Sql, workspaceId: string, ids: readonly string[]): Promise<ContactRow[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<ContactRow>(
    `select c.id, c.phone from unnest($2::uuid[]) with ordinality as a(id, position)
     join contacts c on c.id = a.id and c."workspaceId" = $1 order by a.position`,
    [workspaceId, ids],
  )
  if (rows.length < ids.length) fail('NOT_FOUND', 'Contact not found')
  return rows
}

/** Reads the distinct members of the groups, at most one more than `maxRecipients`, which is enough to find that they are too many. */
async function membersOf(tx: Sql, workspaceId: string, groupIds: readonly string[]): Promise<ContactRow[]> {
  if (groupIds.length === 0) return []
  const { rows: groups } = await tx.query('select id from contact_groups where "workspaceId" = $1 and id = any($2::uuid[])', [
    workspaceId,
    groupIds,
  ])
  if (groups.length < groupIds.length) fail('NOT_FOUND', 'Contact group not found')
  const { rows } = await tx.query<ContactRow>(
    `select id, phone from contacts
     where id in (select "contactId" from contact_group_members where "groupId" = any($1::uuid[])) order by "createdAt", id limit $2`,
    [groupIds, maxRecipients + 1],
  )
  return rows
}
