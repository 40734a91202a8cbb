// Lines of an imported file: which column is which field, and the contact that a line describes.
import { z } from 'zod'
import { text } from '../../core/validation.ts'
import { contactFields, longestKey, mostKeys, mostTags } from '../input.ts'

/** Fields that a column can have; the values of `custom` have a column for each key. */
const fields = ['name', 'firstName', 'lastName', 'phone', 'email', 'tags'] as const

const customPrefix = 'custom.'

/** A field that a column may stand for: a field of the record, or `custom.KEY`. */
export const target = text(1, customPrefix.length + longestKey).refine((name) => isField(name), {
  error: `must be one of ${fields.join(', ')} or custom.KEY`,
})

function isField(name: string): boolean {
  return fields.some((field) => field === name) || (name.startsWith(customPrefix) && name.length > customPrefix.length)
}

/** The field of each column; null for one that is ignored. */
export type Columns = readonly (string | null)[]

/**
 * Assigns the columns by their titles. `mapping` takes precedence over a title that is itself the name of a field. If two columns have
 * one field, the first counts.
 */
export function columnsOf(titles: readonly string[], mapping: Readonly<Record<string, string>>): Columns {
  const mapped = new Map(Object.entries(mapping).map(([title, field]) => [title.trim(), field]))
  const wanted = titles.map((title) => mapped.get(title.trim()) ?? null)
  const taken = new Set(wanted)
  const named = titles.map((title, i) => {
    const name = title.trim()
    return wanted[i] ?? (isField(name) && !taken.has(name) ? name : null)
  })
  // A line of titles has room for 25,000 fields, so none is looked for among all others.
  const firsts = new Map(named.map((field, i) => [field, i] as const).toReversed())
  return named.map((field, i) => (firsts.get(field) === i ? field : null))
}

/** The fields of a line whose cells are not empty. */
export const ImportedContact = z.object({ ...contactFields, name: contactFields.name.optional() })
export type ImportedContact = z.output<typeof ImportedContact>

export interface FieldFault {
  field: string
  message: string
}

export type Line = { contact: ImportedContact; faults?: never } | { contact?: never; faults: FieldFault[] }

/** Reads the cells of a line. */
export function readLine(columns: Columns, cells: readonly string[]): Line {
  const surplus = cells.slice(columns.length).some((cell) => cell !== '')
  if (surplus) return { faults: [{ field: 'file', message: `must have at most ${columns.length} cells, as the line of titles` }] }
  const parsed = ImportedContact.safeParse(valuesOf(columns, cells))
  if (parsed.success) return { contact: parsed.data }
  const faults = parsed.error.issues.map(({ path, message }) => ({ field: fieldAt(path), message }))
  return { faults: [...new Map(faults.toReversed().map((fault) => [fault.field, fault])).values()].toReversed() }
}

const nameable = text(1, longestKey)

/** A key may be as long as a line, or impossible to store, and the summary of the import repeats the name of the field. */
function fieldAt([field, key]: readonly PropertyKey[]): string {
  const isNamed = field === 'custom' && key !== undefined && nameable.safeParse(key).success
  return isNamed ? `custom.${String(key)}` : String(field)
}

/** The fields of the cells that are not empty. Takes time for the cells of the line alone, however many titles there are. */
function valuesOf(columns: Columns, cells: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const custom: [string, string][] = []
  for (const [i, given] of cells.entries()) {
    const field = given === '' ? null : (columns[i] ?? null)
    if (field === null) continue
    const cell = unescaped(given)
    if (field.startsWith(customPrefix)) {
      // One more than allowed is enough to be refused.
      if (custom.length <= mostKeys) custom.push([field.slice(customPrefix.length), cell])
    } else if (field === 'tags') values.tags = tagsOf(cell)
    else values[field] = field === 'phone' || field === 'email' ? cell.trim() : cell
  }
  if (custom.length > 0) values.custom = Object.fromEntries(custom)
  return values
}

function tagsOf(cell: string): string[] {
  const tags = new Set(cell.split(',').map((tag) => tag.trim()))
  tags.delete('')
  // One more than allowed is enough to be refused.
  return [...tags].slice(0, mostTags + 1)
}

/** Takes off the apostrophe that an export puts before a cell which a spreadsheet would execute. */
function unescaped(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell
}
