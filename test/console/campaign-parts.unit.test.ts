// The pure parts of the pages of campaigns: reading recipients out of text, and finding the times at rest.
import { describe, expect, it } from 'vitest'
import { readRecipients } from '../../src/console/web/campaigns/read-recipients.ts'
import { restsOf } from '../../src/console/web/campaigns/rests.ts'

describe('recipients', () => {
  it('are read one a line, however their numbers are written, with the lines that have none', () => {
    const text = '+49 151 1234-5671\n\n0055 (11) 91234-5678\nhello\n4915112345672\n12\n'
    expect(readRecipients(text)).toEqual({
      recipients: [{ to: '+4915112345671' }, { to: '+5511912345678' }, { to: '+4915112345672' }],
      lines: [1, 3, 5],
      bad: [
        { line: 4, said: 'hello' },
        { line: 6, said: '12' },
      ],
    })
  })

  it.each([
    ['commas', ','],
    ['semicolons', ';'],
    ['tabs', '\t'],
  ])('are read from CSV with %s: the column of the number, the reference, and the values of the template', (_, mark) => {
    const rows = [
      ['name', 'phone', 'reference', 'custom.code'],
      ['Ada', "'+4915112345671", 'A-1', 'x'],
      ['Bob', '', '', 'y'],
    ]
    rows.push([`"Eve ""the""${mark}\nthird"`, '+4915112345672', '', ''])
    const text = `\uFEFF${rows.map((row) => row.join(mark)).join('\r\n')}`
    expect(readRecipients(text)).toEqual({
      recipients: [
        { to: '+4915112345671', reference: 'A-1', variables: { name: 'Ada', code: 'x' } },
        { to: '+4915112345672', variables: { name: `Eve "the"${mark}\nthird` } },
      ],
      lines: [2, 4],
      bad: [{ line: 3, said: 'Bob, , , y' }],
    })
  })
})

describe('recipients of a spreadsheet', () => {
  it.each([
    ['a comma within a cell, and no titles', '+4915112345671;Doe, Ada\n+4915112345672;Roe, Bob'],
    ['a comma within a quoted title', '"Doe, Roe";phone\nAda;+4915112345671\nBob;+4915112345672'],
    ['lines that end as on an old Mac', 'phone;name\r+4915112345671;Ada\r+4915112345672;Bob'],
    ['empty lines before the titles', '\r\n\r\nphone;name\r\n+4915112345671;Ada\r\n+4915112345672;Bob'],
  ])('are all found with %s', (_, text) => {
    const { recipients, bad } = readRecipients(text)
    expect([recipients.map(({ to }) => to), bad]).toEqual([['+4915112345671', '+4915112345672'], []])
  })
})

describe('the times at rest', () => {
  const parts = (queued: readonly number[], minutes = 1) =>
    queued.map((n, i) => ({
      from: new Date(i * minutes * 60_000).toISOString(),
      to: new Date((i + 1) * minutes * 60_000).toISOString(),
      queued: n,
    }))

  it('are those without a new message between the first and the last one', () => {
    expect([...restsOf(parts([0, 5, 0, 0, 5, 0]), null, 'completed')]).toEqual([2, 3])
    expect([...restsOf(parts([0, 0]), null, 'running')]).toEqual([])
  })

  it('are longer than the moments between two pages of messages', () => {
    expect([...restsOf(parts([5, 0, 0, 5], 0.1), null, 'running')]).toEqual([])
  })

  it('reach to the end while the campaign is paused', () => {
    expect([...restsOf(parts([5, 0, 0]), null, 'paused')]).toEqual([1, 2])
  })

  it('are none where the rate is too low for a message in each part', () => {
    expect([...restsOf(parts([1, 0, 0, 1]), 1, 'running')]).toEqual([])
    expect([...restsOf(parts([1, 0, 0, 0, 1]), 1, 'running')]).toEqual([1, 2, 3])
  })
})
