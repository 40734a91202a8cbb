// Proves how an import reads lines: separators, columns and cells.
import { describe, expect, it } from 'vitest'
import { delimiterOf } from '../../src/contacts/import/read.ts'
import { columnsOf, readLine } from '../../src/contacts/import/rows.ts'

it.each([
  ['name,phone\n', ','],
  ['name;phone\n', ';'],
  ['"a;b;c",phone,name\n1;2;3;4;5', ','],
  ['name', ','],
  ['a;b\r\n1,2,3,4', ';'],
])('finds the separator in the titles: %j', (head, expected) => {
  expect(delimiterOf(Buffer.from(head))).toBe(expected)
})

describe('columns', () => {
  it('are found by the names of the fields, and unknown titles are ignored', () => {
    expect(columnsOf(['id', ' phone ', 'custom.city', 'custom.', 'Phone'], {})).toEqual([
      null,
      'phone',
      'custom.city',
      null,
      null,
    ])
  })

  it('are found by the mapping first', () => {
    const mapping = { Mobile: 'phone', City: 'custom.city', Gone: 'email' }
    expect(columnsOf(['Mobile', 'City', 'phone', 'name'], mapping)).toEqual(['phone', 'custom.city', null, 'name'])
  })

  it('count once if two have the same field', () => {
    expect(columnsOf(['name', 'name', 'phone'], {})).toEqual(['name', null, 'phone'])
  })
})

describe('a line', () => {
  const columns = columnsOf(['name', 'phone', 'email', 'tags', 'custom.city', 'x'], {})

  it('has the fields whose cells are not empty', () => {
    expect(readLine(columns, ['Ada', '+4915112345678', '', 'a, b,,a', 'Bonn', 'y'])).toEqual({
      contact: { name: 'Ada', phone: '+4915112345678', tags: ['a', 'b'], custom: { city: 'Bonn' } },
    })
    expect(readLine(columns, ['', '+4915112345678'])).toEqual({ contact: { phone: '+4915112345678' } })
  })

  it('loses the apostrophe that an export puts before a cell, and no other', () => {
    const { contact } = readLine(columns, ["'=1+1", "'+4915112345678", '', '', "'s-Hertogenbosch"])
    expect(contact).toEqual({ name: '=1+1', phone: '+4915112345678', custom: { city: "'s-Hertogenbosch" } })
  })

  it('names every faulty field once', () => {
    const { faults } = readLine(columns, ['x'.repeat(201), '0151', 'nobody', 't'.repeat(51), 'a\0'])
    expect(faults).toEqual([
      { field: 'name', message: 'must have at most 200 characters' },
      { field: 'phone', message: 'must be an E.164 number, for example +393331234567' },
      { field: 'email', message: 'must be an e-mail address' },
      { field: 'tags', message: 'must have at most 50 characters' },
      { field: 'custom.city', message: 'must not contain NUL or unpaired surrogates' },
    ])
    expect(readLine(columns, ['Ada']).faults).toEqual([{ field: 'phone', message: 'is required' }])
  })

  it('may have more cells than there are titles only if they are empty', () => {
    expect(readLine(columns, ['Ada', '+4915112345678', '', '', '', '', '', '']).contact).toBeDefined()
    expect(readLine(columns, ['Ada', '+4915112345678', '', '', '', '', 'z']).faults?.[0]?.field).toBe('file')
  })
})
