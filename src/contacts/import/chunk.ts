// Stores one chunk of an import: creates the contacts whose numbers are new, and skips or updates the others.
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { ownTurn } from '../../core/turns.ts'
import type { ImportSummary, LineFault } from '../bulk/service.ts'
import { tellContacts } from '../events.ts'
import { addMembers } from '../groups/membership.ts'
import { namesOf, namesOfLine } from '../names.ts'
import { type ImportedRow, insertContacts, lockByPhone, type OpenImport, updateContacts } from './import.sql.ts'
import type { FileRecord } from './read.ts'
import { type Columns, type ImportedContact, readLine, ImportedContact as schema } from './rows.ts'

/** Most faults in a summary. */
const maxFaults = 100

/**
 * Stores the lines and returns the summary of the import with them.
 * @throws NOT_FOUND when the group of the import was deleted. Contacts are stored by then, so the transaction must be rolled back.
 */
export async function importLines(
  tx: Sql,
  { workspaceId, groupId, summary }: OpenImport,
  lines: readonly FileRecord[],
  columns: Columns,
  onConflict: 'skip' | 'update',
): Promise<ImportSummary> {
  const { valid, found } = await readLines(lines, columns)
  const refuse = (line: number, field: string, message: string) => found.push({ line, field, message })
  const known = await settleNumbers(
    tx,
    workspaceId,
    valid.map(({ contact }) => contact),
  )
  const rows = new Map(known.existing.map((row) => [row.phone, row]))
  const changed = new Map<string, ImportedRow>()
  const members = new Set<string>()
  let { created, updated, skipped } = summary
  for (const { line, contact } of valid) {
    const row = rows.get(contact.phone)
    // A later line of the chunk may create the contact.
    if (!row || (known.created.has(row.id) && contact.name === undefined)) {
      refuse(line, 'name', 'is required')
      continue
    }
    members.add(row.id)
    if (known.created.delete(row.id)) created++
    else if (onConflict === 'skip') skipped++
    else {
      const merged = mergedOf(row, contact)
      const fault = schema.shape.custom.safeParse(merged.custom).error?.issues[0]
      if (fault) refuse(line, 'custom', fault.message)
      else {
        updated++
        rows.set(row.phone, merged)
        changed.set(row.id, merged)
      }
    }
  }
  if (changed.size > 0) await updateContacts(tx, [...changed.values()])
  await tellContacts(tx, workspaceId, 'updated', [...changed.keys()])
  if (groupId) await addMembers(tx, workspaceId, groupId, [...members])
  const invalid = [...summary.invalid, ...found.toSorted((a, b) => a.line - b.line)].slice(0, maxFaults)
  return { created, updated, skipped, invalid }
}

/** Cells that are read before the event loop gets a turn; they take a few milliseconds. */
const cellsAtOnce = 10_000

/** Contacts of the lines that are valid, and the faults of the others. */
async function readLines(lines: readonly FileRecord[], columns: Columns) {
  const valid: { line: number; contact: ImportedContact }[] = []
  const found: LineFault[] = []
  let cellsRead = 0
  for (const { cells, line } of lines) {
    cellsRead += cells.length
    if (cellsRead > cellsAtOnce) {
      await ownTurn()
      cellsRead = cells.length
    }
    const { contact, faults } = readLine(columns, cells)
    for (const fault of faults ?? []) found.push({ line, ...fault })
    if (contact) valid.push({ line, contact })
  }
  return { valid, found }
}

/** Inserts the contacts whose numbers are new. Returns all contacts with these numbers, locked, and the ids of the new ones. */
async function settleNumbers(tx: Sql, workspaceId: string, contacts: readonly ImportedContact[]) {
  const phones = [...new Set(contacts.map(({ phone }) => phone))]
  const existing = await lockByPhone(tx, workspaceId, phones)
  const taken = new Set(existing.map(({ phone }) => phone))
  const fresh = new Map<string, ImportedRow>()
  for (const contact of contacts) {
    if (taken.has(contact.phone) || fresh.has(contact.phone) || contact.name === undefined) continue
    fresh.set(contact.phone, newRow(contact, contact.name))
  }
  if (fresh.size === 0) return { existing, created: new Set<string>() }
  const created = new Set(await insertContacts(tx, workspaceId, [...fresh.values()]))
  await tellContacts(tx, workspaceId, 'created', [...created])
  const inserted = [...fresh.values()].filter(({ id }) => created.has(id))
  // Somebody else took these numbers in the meantime.
  const lost = [...fresh.values()].filter(({ id }) => !created.has(id)).map(({ phone }) => phone)
  const others = lost.length > 0 ? await lockByPhone(tx, workspaceId, lost) : []
  return { existing: [...existing, ...inserted, ...others], created }
}

function newRow(contact: ImportedContact, name: string): ImportedRow {
  const { phone, email, tags, custom } = contact
  return {
    id: newId(),
    ...namesOf({ ...namesOfLine(contact), name }),
    phone,
    email: email ?? null,
    tags: tags ?? [],
    custom: custom ?? {},
  }
}

/** Empty cells leave the contact as it is. */
function mergedOf(row: ImportedRow, given: ImportedContact): ImportedRow {
  return {
    ...row,
    ...namesOf(namesOfLine(given, row), row),
    email: given.email ?? row.email,
    tags: given.tags ?? row.tags,
    custom: { ...(row.custom as Record<string, string>), ...given.custom },
  }
}
