// Reads recipients out of pasted numbers or CSV, line by line. Lines without a number are reported.
import { isPhone } from '../graph/is-phone.ts'

export interface Recipient {
  to: string
  reference?: string
  variables?: Record<string, string>
}

export interface BadLine {
  line: number
  said: string
}

export interface Read {
  recipients: Recipient[]
  /** The line of each recipient, from 1. */
  lines: number[]
  bad: BadLine[]
}

const numberColumns = /^(to|phone|number|telefone|n[uú]mero|celular|whatsapp)$/i

/** A first line without a number names the columns; without one, the first cell of each line is the number. */
export function readRecipients(text: string): Read {
  const read: Read = { recipients: [], lines: [], bad: [] }
  const rows = rowsOf(text)
  const [head] = rows
  const names = head && numberOf(head.cells[0] ?? '') === null ? head.cells.map((name) => name.trim()) : []
  const at = names.findIndex((name) => numberColumns.test(name))
  const hasHead = at >= 0
  for (const { cells, line } of hasHead ? rows.slice(1) : rows) {
    const to = numberOf(cells[hasHead ? at : 0] ?? '')
    if (to === null) read.bad.push({ line, said: cells.join(', ').trim().slice(0, 80) })
    else {
      read.recipients.push(hasHead ? { to, ...valuesOf(names, cells, at) } : { to })
      read.lines.push(line)
    }
  }
  return read
}

/** The number in E.164, or null. `00` stands for `+`; a spreadsheet's apostrophe is no part of it. */
export function numberOf(written: string): string | null {
  const digits = written
    .trim()
    .replace(/^'/, '')
    .replaceAll(/[\s().\-/]/g, '')
    .replace(/^00/, '+')
  const number = digits.startsWith('+') ? digits : `+${digits}`
  return isPhone(number) ? number : null
}

function valuesOf(names: readonly string[], cells: readonly string[], at: number): Omit<Recipient, 'to'> {
  const values: Record<string, string> = {}
  let reference: string | undefined
  for (const [n, name] of names.entries()) {
    const value = cells[n]?.trim()
    if (n === at || !name || !value) continue
    if (/^reference$/i.test(name)) reference = value
    else values[name.replace(/^custom\./, '')] = value
  }
  return { ...(reference && { reference }), ...(Object.keys(values).length > 0 && { variables: values }) }
}

interface Cells {
  cells: string[]
  line: number
}

/** The cells of each line that has any; quoted ones may hold separators and line breaks (RFC 4180). Lines may end as on any system. */
export function rowsOf(written: string): Cells[] {
  const text = written.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')
  const separator = separatorOf(text)
  const rows: Cells[] = []
  let [row, cell, quoted, line, begin] = [[] as string[], '', false, 1, 1]
  function endRow(): void {
    row.push(cell)
    if (row.some((value) => value.trim())) rows.push({ cells: row, line: begin })
    ;[row, cell] = [[], '']
    begin = line
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '\n') line++
    if (quoted) {
      if (character !== '"') cell += character
      else if (text[at + 1] === '"') {
        cell += '"'
        at++
      } else quoted = false
    } else if (character === '"' && cell.trim() === '') {
      quoted = true
      cell = ''
    } else if (character === separator) {
      row.push(cell)
      cell = ''
    } else if (character === '\n') endRow()
    else cell += character
  }
  endRow()
  return rows
}

/** The most frequent separator in the first line that is not empty, quoted cells left out. On a tie, the one that comes first. */
function separatorOf(text: string): string {
  const first = (text.match(/\S.*/)?.[0] ?? '').replaceAll(/"[^"]*"/g, '')
  const times = (mark: string) => first.split(mark).length
  return [',', ';', '\t'].toSorted((a, b) => times(b) - times(a) || first.indexOf(a) - first.indexOf(b))[0] as string
}
