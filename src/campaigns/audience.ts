// Resolves the audience of a campaign: numbers, contacts and groups become distinct numbers, in the order of first mention.
import { setImmediate as turn } from 'node:timers/promises'
import { z } from 'zod'
import type { Addressee } from '../contacts/contacts.sql.ts'
import { findGroupAddressees } from '../contacts/groups/service.ts'
import { findAddressees } from '../contacts/service.ts'
import type { Config } from '../core/config/config.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail, type Issue, invalid, issuesOf } from '../core/errors.ts'
import { faultsOf, uuid } from '../core/validation.ts'
import { type CampaignFields, CreateCampaignInput, recipient } from './input.ts'
import { maxRecipients } from './policy.ts'

export interface Recipient {
  to: string
  /** The index of its number in `recipients`; null for a contact. */
  index: number | null
  contactId: string | null
  /** This recipient's own values for a template. */
  variables: Record<string, string> | null
  reference: string | null
}

/** Recipients by phone number, in sending order. */
export type Audience = Map<string, Recipient>

/** Numbers that are parsed before the event loop gets a turn; they take a few milliseconds. */
const atOnce = 250
/** Most faults of a list that are named. */
const maxFaults = 100
const tooMany = `recipients: must be at most ${maxRecipients} distinct numbers, including contacts and group members`

/** Numbers as they were given. */
export interface Numbers {
  audience: Audience
  /** Items that name a number again. */
  repeated: number
  /** The faults of the first invalid items. */
  faults: Issue[]
  /** True if the faults of further items were left out. */
  more: boolean
  invalid: number
}

/**
 * Reads the input of a campaign and its numbers.
 * @throws VALIDATION_ERROR as {@link checkContactIds}, or when a field is wrong; the message names every such field, and of the numbers the first
 * hundred faults.
 */
export async function readCampaign(config: Config, input: unknown): Promise<{ fields: CampaignFields; numbers: Numbers }> {
  const items = (input as { recipients?: unknown } | null)?.recipients
  let fields: CampaignFields
  checkContactIds(input)
  try {
    fields = CreateCampaignInput.parse(config, input)
  } catch (error) {
    const issues = issuesOf(error as Error)
    if (!issues || !Array.isArray(items) || items.length > maxRecipients) throw error
    const { faults, more } = await readNumbers(items, { refuse: false })
    throw invalid([...issues, ...faults], { more })
  }
  return { fields, numbers: await readNumbers(fields.recipients ?? [], { refuse: true }) }
}

/**
 * Checks the contact ids of an input ahead of its other fields: to name all of 100,000 wrong ones takes a second without a turn for others.
 * @throws VALIDATION_ERROR when more than a hundred are wrong; the message names the first of them.
 */
export function checkContactIds(input: unknown): void {
  const ids = (input as { contactIds?: unknown } | null)?.contactIds
  if (!Array.isArray(ids)) return
  const faults: Issue[] = []
  for (const [index, id] of ids.entries()) {
    if (typeof id === 'string' && z.regexes.guid.test(id)) continue
    if (faults.length === maxFaults) throw invalid(faults, { more: true })
    faults.push(...faultsOf(uuid.safeParse(id).error as z.ZodError, `contactIds.${index}`))
  }
}

/**
 * Reads the numbers of an input. With `refuse`, invalid ones are refused.
 * @throws VALIDATION_ERROR then; the message names the first hundred faults with index and field.
 */
export async function readNumbers(items: readonly unknown[], { refuse }: { refuse: boolean }): Promise<Numbers> {
  const numbers: Numbers = { audience: new Map(), repeated: 0, faults: [], more: false, invalid: 0 }
  for (const [index, item] of items.entries()) {
    if (index % atOnce === atOnce - 1) await turn()
    const parsed = recipient.safeParse(item)
    if (parsed.success) addNumber(numbers, index, parsed.data)
    else {
      addFaults(numbers, index, parsed.error)
      if (refuse && numbers.more) break
    }
  }
  const { faults, more } = numbers
  if (refuse && faults.length > 0) throw invalid(faults, { more })
  return numbers
}

function addNumber(numbers: Numbers, index: number, { to, variables = null, reference = null }: z.infer<typeof recipient>): void {
  if (numbers.audience.has(to)) numbers.repeated++
  else numbers.audience.set(to, { to, index, contactId: null, variables, reference })
}

function addFaults(numbers: Numbers, index: number, error: z.ZodError): void {
  numbers.invalid++
  if (numbers.faults.length < maxFaults) numbers.faults.push(...faultsAt(error, index))
  else numbers.more = true
}

function faultsAt(error: z.ZodError, index: number): Issue[] {
  const issues = error.issues.map((issue) => ({ ...issue, path: ['recipients', index, ...issue.path] }))
  return faultsOf(new z.ZodError(issues))
}

/**
 * Adds the contacts and group members that `fields` names. @throws NOT_FOUND when a contact or group is not in the workspace;
 * VALIDATION_ERROR when the audience is empty or larger than `maxRecipients`.
 */
export async function addContacts(tx: Tx, workspaceId: string, fields: CampaignFields, audience: Audience): Promise<void> {
  for (const contact of await findAddressees(tx, workspaceId, [...new Set(fields.contactIds)])) add(audience, contact)
  // One more than `maxRecipients` is enough to find that they are too many.
  const members = await findGroupAddressees(tx, workspaceId, [...new Set(fields.groupIds)], maxRecipients + 1)
  for (const contact of members) add(audience, contact)
  if (audience.size > maxRecipients) fail('VALIDATION_ERROR', tooMany)
  if (audience.size === 0) fail('VALIDATION_ERROR', 'recipients: must not be empty; the groups have no members')
}

function add(audience: Audience, { id, phone: to }: Addressee): void {
  const named = audience.get(to) ?? { to, index: null, contactId: null, variables: null, reference: null }
  // Not changed in place: a second try of the transaction begins with the same numbers.
  audience.set(to, { ...named, contactId: named.contactId ?? id })
}
