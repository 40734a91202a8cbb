// Proves how an import reads lines: separators, columns and cells.
import { parse } from 'csv-parse/sync'
import { describe, expect, it, vi } from 'vitest'
import { delimiterOf } from '../../src/contacts/import/read.ts'
import { columnsOf, readLine } from '../../src/contacts/import/rows.ts'
import { csvLines } from '../../src/core/csv.ts'

it.each([
  ['name,phone\n', ','],
  ['name;phone\n', ';'],
  ['"a;b;c",phone,name\n1;2;3;4;5', ','],
  ['name', ','],
  ['a;b\r\n1,2,3,4', ';'],
  ['\uFEFF\r\n \nname;phone\n', ';'],
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

  it.each(['=1+1', "'=1+1", "''-5", "'plain", "'"])('keeps the name %j, which an export wrote', (name) => {
    const [cell] = parse(csvLines([[name]]))[0] as [string]
    expect(readLine(['name', 'phone'], [cell, '+4915112345678']).contact).toMatchObject({ name })
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

describe('a file with very many columns', () => {
  // The longest line of titles has so many.
  const titles = Array.from({ length: 20_000 }, (_, i) => `custom.${i}`)

  it('takes time for its titles in proportion to their number', () => {
    const search = vi.spyOn(Array.prototype, 'indexOf')
    const columns = columnsOf(titles, {})
    const searches = search.mock.calls.length
    search.mockRestore()
    expect(columns).toEqual(titles)
    expect(searches).toBe(0)
  })

  it('takes time for the cells of a line, and not for its titles', () => {
    let looks = 0
    const columns = new Proxy(['phone', 'name', ...titles], {
      get: (target, name) => {
        looks++
        return Reflect.get(target, name)
      },
    })
    expect(readLine(columns, ['+4915112345678', 'Ada'])).toEqual({ contact: { phone: '+4915112345678', name: 'Ada' } })
    expect(looks).toBeLessThan(10)
  })

  it('has lines whose values are refused after the first that are too many', () => {
    const check = vi.spyOn(String.prototype, 'isWellFormed')
    const { faults } = readLine(['phone', 'tags', ...titles], ['+4915112345678', titles.join(','), ...titles])
    const checks = check.mock.calls.length
    check.mockRestore()
    expect(faults).toEqual([
      { field: 'tags', message: 'must have at most 50 items' },
      { field: 'custom', message: 'must have at most 50 keys' },
    ])
    expect(checks).toBeLessThan(500)
  })
})

it('names the faulty field of a key that is too long without the key', () => {
  const { faults } = readLine(['phone', `custom.${'k'.repeat(200_000)}`, 'custom.city'], ['+4915112345678', 'a\0', 'b\0'])
  expect(faults?.map(({ field }) => field)).toEqual(['custom', 'custom.city'])
})

it('names the faulty field of a key that cannot be stored without the key', () => {
  const { faults } = readLine(['phone', 'custom.a\0', 'custom.city'], ['+4915112345678', 'a\0', 'b\0'])
  expect(faults?.map(({ field }) => field)).toEqual(['custom', 'custom.city'])
})
